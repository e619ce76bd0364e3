import { main } from "./interfaces/cli/main.ts"
import { processIo } from "./interfaces/cli/common/process-io.ts"
import { processRuntime } from "./interfaces/cli/common/runtime.ts"
import { printable } from "./lib/printable.ts"

void start(process.argv.slice(2))

async function start(args: string[]): Promise<void> {
  // Before processIo(), which reads the current folder.
  const from = process.cwd()
  const place = args[0] === "-C" ? args.splice(0, 2) : []
  if (place.length > 0) changeFolder(place[1])
  const io = processIo(from, place)
  process.exitCode = await main(args, io, processRuntime(io))
  for (const stream of [process.stdout, process.stderr]) await new Promise((done) => stream.write("", done))
  // A tool that ignores its abort signal must not keep the process running.
  process.exit()
}

function changeFolder(folder: string | undefined): void {
  try {
    process.chdir(folder ?? "")
  } catch {
    process.stderr.write(`-C takes a folder that exists, and '${printable(folder ?? "")}' cannot be entered.\n`)
    process.exit(2)
  }
}
