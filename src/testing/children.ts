import { spawn, type ChildProcess } from "node:child_process"
import { fileURLToPath } from "node:url"

/** The library as a child process imports it. */
export const library = fileURLToPath(new URL("../../dist/index.js", import.meta.url))
export const zod = import.meta.resolve("zod")

/** Runs a module text in a process of its own; what it prints is collected line by line. */
export function child(
  source: string,
  flags: readonly string[] = [],
): { process: ChildProcess; lines: string[]; ended: Promise<number | null> } {
  const started = spawn(process.execPath, [...flags, "--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const lines: string[] = []
  let rest = ""
  started.stdout.on("data", (data: Buffer) => {
    const parts = (rest + data.toString("utf8")).split("\n")
    rest = parts.pop()!
    lines.push(...parts)
  })
  const ended = new Promise<number | null>((resolve) => started.on("close", (code) => resolve(code)))
  return { process: started, lines, ended }
}
