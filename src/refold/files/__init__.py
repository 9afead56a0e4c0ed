"""Which files a call reads and writes, told by its tool and its arguments."""
