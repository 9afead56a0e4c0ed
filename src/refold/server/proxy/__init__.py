"""The proxy behind `refold serve`: folds what clients send, and leaves everything else alone.

    client ──► proxy ──► upstream ──► provider ──► answering ──► client
                 │ ▲
               workers: folding, in conversations, by the ledger of what was sent

The event loop only moves bytes. Bodies are parsed and folded in worker processes, under a deadline;
whatever goes wrong there, what is new goes out as it came, and the rest as it was sent before.
"""
