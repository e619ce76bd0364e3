/** One problem of the configuration. `file` is a path, or the environment variable or option that set it. */
export interface ConfigProblem {
  file: string
  line?: number
  column?: number
  /** The key it is about, written `tools.timeout`; empty when it is about the whole file. */
  key: string
  sentence: string
}

/** Reports all problems at once, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    const shown = problems.map((problem) => ({
      ...problem,
      key: escapeControls(problem.key),
      sentence: escapeControls(problem.sentence),
    }))
    super(shown.map(lineOf).join("\n"))
    this.name = "ConfigError"
    this.problems = shown
  }
}

/** Escapes control characters, so that a foreign file cannot change the terminal. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

function lineOf({ file, line, column, sentence }: ConfigProblem): string {
  return `${[file, line, column].filter((part) => part !== undefined).join(":")}: ${sentence}`
}
