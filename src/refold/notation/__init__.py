"""The notation: all that stands in for what was left out is written, read and explained here.

| module | what it has |
|---|---|
| `marks` | plain words in brackets with a handle, above what is shown; gaps; a legend |
| `notes` | the same after the result of a single tool, or inside its JSON |
| `spelling` | what the rules write: in plain words, or as the tags of the contract |
| `recognize` | what is one of ours, and what it shows |

No other module has a word of it. Codecs (`lossless`) have notations of their own, each in its file:
these are data in another form, and nothing is left out.
"""
