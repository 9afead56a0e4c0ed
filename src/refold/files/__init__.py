"""Which files a call reads and writes, judged by its tool and its arguments."""
