import { spawn, type ChildProcess } from "node:child_process"
import { fileURLToPath } from "node:url"

/** The built library, for child processes to import. */
export const libraryFile = fileURLToPath(new URL("../../dist/index.js", import.meta.url))
export const zodModule = import.meta.resolve("zod")

/** Runs the source of a module in a child process and collects the lines it prints. */
export function runChild(
  source: string,
  flags: readonly string[] = [],
): { process: ChildProcess; lines: string[]; ended: Promise<number | null> } {
  const started = spawn(process.execPath, [...flags, "--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const lines: string[] = []
  let unfinishedLine = ""
  started.stdout.on("data", (data: Buffer) => {
    const parts = (unfinishedLine + data.toString("utf8")).split("\n")
    unfinishedLine = parts.pop()!
    lines.push(...parts)
  })
  const ended = new Promise<number | null>((resolve) => started.on("close", (code) => resolve(code)))
  return { process: started, lines, ended }
}
