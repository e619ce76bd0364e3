import { createInterface } from "node:readline/promises"
import { Writable } from "node:stream"
import type { Io } from "./context.ts"
import { CannotDo } from "./usage.ts"

/** Asks for texts at the terminal, one after the other, without showing what is typed. */
export async function askSecrets({ stdin, stderr }: Io, questions: readonly string[]): Promise<string[]> {
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true })
  const left = new Promise<never>((_, reject) => {
    lines.on("SIGINT", () => reject(new CannotDo("cancelled", "Nothing was changed.")))
  })
  try {
    const texts: string[] = []
    for (const question of questions) {
      stderr.write(`${question} `)
      texts.push((await Promise.race([lines.question(""), left])).trim())
      stderr.write("\n")
    }
    return texts
  } finally {
    lines.close()
  }
}

/** The first line of stdin. */
export async function readLine({ stdin }: Pick<Io, "stdin">): Promise<string> {
  const lines = createInterface({ input: stdin, crlfDelay: Infinity })
  for await (const line of lines) {
    lines.close()
    return line.trim()
  }
  return ""
}
