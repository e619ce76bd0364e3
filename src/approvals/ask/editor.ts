import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Opens the person's editor on a temporary file that only they can read, and returns what they saved. The file is deleted
 * afterwards. Aborting the signal ends the editor.
 */
export async function editInFile(
  { text, name }: { text: string; name: string },
  editor: string,
  { input, output }: { input: object; output: object },
  signal: AbortSignal,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "quartermaster-edit-"))
  try {
    const file = join(folder, name)
    await writeFile(file, text, { mode: 0o600, flag: "wx" })
    await runEditor(editor, file, [input, output], signal)
    return await readFile(file, "utf8")
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs the editor by a shell, so that it may have arguments, and with `exec`, so that the signal ends the editor itself. */
function runEditor(editor: string, file: string, [input, output]: [object, object], signal: AbortSignal) {
  const stdio = [input, output, output].map((stream) => ("fd" in stream ? (stream.fd as number) : "ignore"))
  return new Promise<void>((resolve, reject) => {
    const child = spawn("sh", ["-c", `exec ${editor} "$1"`, "sh", file], { stdio, signal })
    child.on("error", (error) =>
      reject(signal.aborted ? error : new Error(`The editor did not start: ${error.message}.`)),
    )
    child.on("close", (code) => {
      if (code === 0) resolve()
      else reject(new Error(`The editor ended with ${code ?? "a signal"}, so nothing was changed.`))
    })
  })
}
