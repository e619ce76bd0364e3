/** One thing wrong with the configuration. `file` is a path, or the environment variable or flag that said it. */
export interface ConfigProblem {
  file: string
  line?: number
  column?: number
  /** The key it is about, written `tools.timeout`; empty when it is about the whole file. */
  key: string
  sentence: string
}

/** Says everything that is wrong at once, one line a problem. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    const shown = problems.map((problem) => ({
      ...problem,
      key: printable(problem.key),
      sentence: printable(problem.sentence),
    }))
    super(shown.map(lineOf).join("\n"))
    this.name = "ConfigError"
    this.problems = shown
  }
}

/** Control characters written out: a file somebody else wrote must not paint on the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

function lineOf({ file, line, column, sentence }: ConfigProblem): string {
  return `${[file, line, column].filter((part) => part !== undefined).join(":")}: ${sentence}`
}
