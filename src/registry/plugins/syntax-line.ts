import { execFile } from "node:child_process"
import { fileURLToPath, pathToFileURL } from "node:url"

/**
 * Returns the line of a syntax error in a file, for example `line 4: description: 3`; undefined if nobody says.
 * For ESM the runtime says the line only where the error ends a program, so the file is imported in one of its own. That
 * runs nothing that was not going to run here: a program with such a mistake does not begin.
 */
export async function syntaxLine(error: unknown, file: string): Promise<string | undefined> {
  if (!(error instanceof SyntaxError)) return undefined
  const { stack = "" } = error
  // It was thrown by running code, for example by JSON.parse.
  if (/^\s+at .*file:\/\//m.test(stack)) return undefined
  return lineIn(stack, file) ?? lineIn(await errorOfProgram(file), file)
}

function lineIn(text: string, file: string): string | undefined {
  // Where the text ends too early, the runtime shows empty lines in place of the code.
  const [, place = "", number, code = ""] = /^(\S.*):(\d+)\n(.*)\n\s*(?:\^|SyntaxError)/m.exec(text) ?? []
  if (number === undefined) return undefined
  const where = place.startsWith("file:") ? fileURLToPath(place) : place
  return `${where === file ? "line " : `${where}:`}${number}: ${code.trim().slice(0, 100) || "the file ends before everything is closed"}`
}

function errorOfProgram(file: string): Promise<string> {
  const args = ["--input-type=module", "-e", "await import(process.argv[1])", pathToFileURL(file).href]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 5000 }, (_error, _stdout, stderr) => resolve(stderr))
  })
}
