"""The proxy behind `refold serve`: folds what clients send, and passes everything else through.

    client ──► entrance, proxy ──► client_request ──► upstream ──► provider ──► answering ──► client
                                     │ ▲
                                   folding: a conversation, by the ledger of what was sent

The event loop only moves bytes. Bodies are parsed and folded in a thread, with a deadline. If that
fails, what is new goes out as it came, and the rest as it was sent before.
"""
