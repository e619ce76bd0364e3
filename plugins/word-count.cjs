// A plugin: a name, a version, and tools with a list of parameters. Plain JavaScript, no imports.
"use strict"

const text = { name: "text", type: "string", description: "The text to count in.", required: true }

/** Splits words by the rules of the language, so that Chinese and Japanese are counted too. */
function wordsIn(given, language) {
  const segments = new Intl.Segmenter(language, { granularity: "word" }).segment(given)
  return Array.from(segments, ({ segment, isWordLike }) => (isWordLike ? [segment] : [])).flat()
}

module.exports = {
  name: "word_count",
  version: "1.0.0",
  description: "Counts words and characters in a text.",
  tools: [
    {
      name: "count_words",
      description: "Count the words, characters and lines of a text.",
      effect: "none",
      parameters: [
        text,
        {
          name: "language",
          type: "string",
          description: "A language such as en or zh.",
          required: false,
          default: "en",
        },
      ],
      async execute({ text: given, language }) {
        try {
          const characters = Array.from(new Intl.Segmenter(language).segment(given)).length
          const lines = given === "" ? 0 : given.split(/\r\n|\r|\n/).length
          return { success: true, data: { words: wordsIn(given, language).length, characters, lines } }
        } catch (error) {
          return {
            success: false,
            error: `The language '${language}' is not known: ${error.message} Use one such as en.`,
          }
        }
      },
    },
    {
      name: "frequent_words",
      description: "The most frequent words of a text, with how often each occurs.",
      effect: "none",
      parameters: [
        text,
        { name: "most", type: "number", description: "How many words.", required: false, default: 10 },
      ],
      async execute({ text: given, most }) {
        const counts = new Map()
        for (const word of wordsIn(given.toLowerCase(), "en")) counts.set(word, (counts.get(word) ?? 0) + 1)
        const sorted = [...counts].sort(([one, first], [other, second]) => second - first || (one < other ? -1 : 1))
        return { success: true, data: sorted.slice(0, most).map(([word, count]) => ({ word, count })) }
      },
    },
  ],
}
