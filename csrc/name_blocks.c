/* Finding names in one pass over a text, 64 characters at a time.
 *
 * It says what the patterns of src/refold/scan/patterns.py say, for these reasons:
 *
 * - Identifiers, abbreviations and proper names begin and end with a word, a run of `\w`. Words of
 *   small letters are none of these unless they have no vowel, and most words are of small letters;
 *   with a bit for each character, all others are found without a look at these.
 * - Quantities and versions begin with a word that has a digit, or with a digit after an ideograph.
 * - Paths begin with a run of letters, dots, slashes and hyphens, so there is at most one in a run.
 *   It is looked for at the first dot before a letter: every path has an extension.
 *
 * A text ends with a 0, which is no part of anything.
 */
#include "names.h"

#include <string.h>

enum { BLOCK = 64, SHORTEST_SHORT = 3 };

/* Characters of a text, a bit for each. */
typedef struct {
    uint64_t words;
    uint64_t consonants;
    uint64_t special;
    uint64_t signs;
} Block;

/* The flags of eight bytes together are four bytes, with eight bits of each flag. */
static inline Block
map_block(const unsigned char *plain, const NameTables *tables)
{
    const uint32_t(*flags)[256] = tables->flags;
    Block block = {0, 0, 0, 0};
    for (int place = BLOCK - 8; place >= 0; place -= 8) {
        uint32_t bits = 0;
        for (int number = 0; number < 8; number++) {
            bits |= flags[number][plain[place + number]];
        }
        block.words = block.words << 8 | (bits & 255);
        block.consonants = block.consonants << 8 | (bits >> 8 & 255);
        block.special = block.special << 8 | (bits >> 16 & 255);
        block.signs = block.signs << 8 | bits >> 24;
    }
    return block;
}

/* Where a reading is: what the next block has to know of those before. */
typedef struct {
    Reading *reading;
    Py_ssize_t start;      /* of the block */
    uint64_t words_before; /* the words of the last block */
    uint64_t is_short;     /* whether that ends with a word of consonants so far */
    Py_ssize_t words_read; /* up to there, words were read */
    Py_ssize_t dots_read;  /* up to there, dots before letters were looked at */
} Progress;

/* The places right behind words of three small consonants or more.
 *
 * A bit added to the first of some consonants in a row is carried to the place right behind the
 * last one. */
static inline uint64_t
short_ends(Progress *progress, const Block *block)
{
    uint64_t words = block->words, before = progress->words_before;
    uint64_t starts = words & ~(words << 1 | before >> 63);
    uint64_t sum = block->consonants + starts;
    uint64_t ends = sum + progress->is_short;
    progress->is_short = sum < starts || ends < sum;
    progress->words_before = words;
    return ends & ~words & (words << 1 | before >> 63) & (words << 2 | before >> 62)
        & (words << 3 | before >> 61);
}

/* Where a word starts, seen from a place in it or right behind it. */
static inline Py_ssize_t
word_start(const Reading *reading, Py_ssize_t place)
{
    while (place > 0 && class_at(reading, place - 1) > JOINT) {
        place--;
    }
    return place;
}

/* The bits of a word that has no other special character than this capital, which begins it; 0 if
 * that cannot be said. */
static inline uint64_t
capitalized(const Reading *reading, const Block *block, Py_ssize_t place, int bit)
{
    if (!is_capital(reading->plain[place])
        || reading->tables->of_byte[byte_before(reading, place)] > JOINT) {
        return 0;
    }
    uint64_t behind = ~(block->words >> bit) & ~(uint64_t)0 >> bit;
    if (behind == 0) {
        return 0; /* the word goes on in the next block */
    }
    uint64_t word = ((uint64_t)1 << lowest_bit(behind)) - 1;
    return (block->special >> bit & word) == 1 ? word : 0;
}

/* Read the word with a special character, the first one in it, and return where it ends. */
static inline Py_ssize_t
read_special(Reading *reading, const Block *block, Py_ssize_t place, int bit)
{
    uint64_t word = capitalized(reading, block, place, bit);
    if (word == 0) {
        return reading_word(reading, word_start(reading, place));
    }
    Py_ssize_t end = place + lowest_bit(~word);
    if (end > place + 1) {
        reading_add_to_row(reading, place, end, 1);
    }
    if (((block->consonants >> bit | 1) & word) == word && end - place >= SHORTEST_SHORT
        && class_at(reading, place) == CAPITAL_CONSONANT) {
        reading_add_short(reading, place, end);
    }
    return end;
}

/* Read all words of a block but those of small letters with a vowel. */
static inline void
read_words(Progress *progress, const Block *block)
{
    Reading *reading = progress->reading;
    uint64_t ends = short_ends(progress, block), left = block->special | ends;
    Py_ssize_t skipped = progress->words_read - progress->start;
    while (left != 0) {
        if (skipped > 0) {
            left = skipped < BLOCK ? left & ~(uint64_t)0 << skipped : 0;
            skipped = 0;
            continue;
        }
        int bit = lowest_bit(left);
        Py_ssize_t place = progress->start + bit;
        if (ends >> bit & 1) {
            reading_add_short(reading, word_start(reading, place), place);
            left &= left - 1;
        } else {
            progress->words_read = read_special(reading, block, place, bit);
            skipped = progress->words_read - progress->start;
        }
    }
}

/* Look for a path at a dot before a letter, unless that was done at an earlier dot of the run. */
static void
read_path(Progress *progress, Py_ssize_t dot)
{
    Py_ssize_t start = dot;
    while (start > progress->dots_read && class_at(progress->reading, start - 1) >= JOINT) {
        start--;
    }
    if (start == 0 || start > progress->dots_read) {
        reading_add_path(progress->reading, start);
    }
    progress->dots_read = dot + 1;
}

static inline void
read_signs(Progress *progress, const Block *block)
{
    const unsigned char *plain = progress->reading->plain;
    for (uint64_t left = block->signs; left != 0; left &= left - 1) {
        Py_ssize_t place = progress->start + lowest_bit(left);
        if (plain[place] == '.') {
            if (is_letter(plain[place + 1])) {
                read_path(progress, place);
            }
        } else if (plain[place] != ':' || (plain[place + 1] == '/' && plain[place + 2] == '/')) {
            progress->reading->has_others = 1;
        }
    }
}

void
reading_run(Reading *reading)
{
    Progress progress = {reading, 0, 0, 0, 0, 0};
    reading->row_start = reading->first_end = reading->row_end = NOWHERE;
    reading->found = reading->few;
    reading->room = FEW;
    reading->count = 0;
    reading->has_others = reading->has_failed = 0;
    for (; progress.start <= reading->size; progress.start += BLOCK) {
        const unsigned char *plain = reading->plain + progress.start;
        unsigned char last[BLOCK] = {0};
        if (reading->size - progress.start < BLOCK) {
            memcpy(last, plain, (size_t)(reading->size - progress.start));
            plain = last;
        }
        Block block = map_block(plain, reading->tables);
        read_words(&progress, &block);
        read_signs(&progress, &block);
    }
    reading_end_row(reading);
}
