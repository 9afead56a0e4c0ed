/* The terms of a text: words that tell a detector something, alone, in pairs or in their place. */
#include "look.h"

enum { MAX_LABEL_GAP = 8 };

static const uint64_t SPREAD = UINT64_C(0x9E3779B97F4A7C15);

/* Tell whether a colon may follow a word, perhaps after some white space. */
static int
is_label(const Look *look, Py_ssize_t place)
{
    Py_ssize_t limit = place + MAX_LABEL_GAP;
    while (place < look->size && place < limit) {
        unsigned kind = kind_at(look, place);
        if (kind != BLANK && kind != LINE_END && kind != OTHER && kind != FOREIGN) {
            break;
        }
        place++;
    }
    return kind_at(look, place) == COLON;
}

/* Tell whether "at" begins an indented line and may name a function or a place in a file: a
 * parenthesis comes right after the name, or one with a colon in it somewhere. */
static int
is_frame(const Look *look, Py_ssize_t start, Py_ssize_t end)
{
    if (start != look->indent || start == look->line) {
        return 0;
    }
    Py_ssize_t place = end + 1;
    unsigned kind = kind_at(look, place);
    while (kind >= LETTER || kind == DIGIT || kind == JOINT || kind == STOP || kind == DOLLAR) {
        kind = kind_at(look, ++place);
    }
    if (kind == SPECIAL && place > end + 1) {
        return 1;
    }
    while (place < look->size && kind != LINE_END && kind != COLON) {
        kind = kind_at(look, ++place);
    }
    return kind == COLON;
}

/* Take note of a term. Those that are counted are counted once. */
static void
note_term(Look *look, Term term, Py_ssize_t start, Py_ssize_t end)
{
    if (term.flags & STATUS) {
        look->reply = end;
    }
    if (term.flags & LABEL && !is_label(look, end)) {
        term.flags -= LABEL;
    }
    if (term.flags & FRAME && !is_frame(look, start, end)) {
        term.flags -= FRAME;
    }
    if (term.flags & (KEYWORD | MARKER)) {
        uint64_t own = (uint64_t)1 << (term.flags >> OWN_SHIFT & 63);
        look->keywords += !(look->counted & own) && term.flags & KEYWORD;
        look->markers += !(look->counted & own) && term.flags & MARKER;
        look->counted |= own;
    }
    look->flags |= term.flags;
    look->signs |= term.signs;
}

static uint64_t
pair_key(uint64_t first, uint64_t second)
{
    return first * SPREAD ^ second;
}

void
end_word(Look *look, Word word, uint64_t before, Py_ssize_t start)
{
    Py_ssize_t end = start + word.length;
    Term term = term_of(look->tables, word.key);
    note_term(look, term, start, end);
    if (term.flags & SECOND && before) {
        note_term(look, term_of(look->tables, pair_key(before, word.key)), start, end);
    }
    if (term.flags & FIRST && kind_at(look, end) == BLANK && kind_at(look, end + 1) == LETTER) {
        uint64_t after = word_at(look->bytes + end + 1).key;
        note_term(look, term_of(look->tables, pair_key(word.key, after)), start, end);
    }
}
