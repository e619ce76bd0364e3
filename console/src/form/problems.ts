/** The server's problems with an input: sentences by the path of their field, and those about no field. */
export interface InputProblems {
  readonly byPath: Readonly<Record<string, string>>
  readonly other: readonly string[]
}

export const noProblems: InputProblems = { byPath: {}, other: [] }

const aboutField = [/^Parameter '([^']+)'/, /^Missing required parameter: (.+)$/, /^Unknown parameter '([^']+)'/]

/** Puts sentences such as "Parameter 'a.b[0]' expected string, got number" beside their fields, said by `say`. */
export function problemsByPath(
  problems: readonly string[],
  say: (sentence: string) => string = (sentence) => sentence,
): InputProblems {
  const byPath: Record<string, string> = {}
  const other: string[] = []
  for (const problem of problems) {
    const path = aboutField.map((pattern) => pattern.exec(problem)?.[1]).find((found) => found !== undefined)
    const said = say(problem)
    if (path === undefined || path === "input") other.push(said)
    else byPath[path] = byPath[path] === undefined ? said : `${byPath[path]} ${said}`
  }
  return { byPath, other }
}

/** The problems in a sentence that lists them: "Validation failed: …, …. Correct the input of …." */
export function problemsInSentence(sentence: string): readonly string[] {
  const list = /^Validation failed: (.*)\. Correct the input of \S+\.$/s.exec(sentence)?.[1]
  return list === undefined
    ? [sentence]
    : list.split(/[,;] (?=Parameter '|Missing required |Unknown parameter |The input )/)
}
