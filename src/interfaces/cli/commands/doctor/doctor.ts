import type { LoadedConfig } from "../../../../config/load.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import { existsSync, mkdtempSync, rmdirSync, statSync } from "node:fs"
import { statfs } from "node:fs/promises"
import { dirname, join } from "node:path"
import { ConfigError } from "../../../../config/config-error.ts"
import { checkApp } from "./doctor-app.ts"
import { checkHooks } from "./doctor-hooks.ts"
import { broken, note, ok, type DoctorFinding } from "./doctor-finding.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import type { Io, Run, CliContext } from "../../common/context.ts"
import { printOutput } from "../../common/output.ts"
import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import { asTyped } from "../../common/typed-command.ts"
import { isAttended } from "../../common/open-app.ts"

export function addDoctor(program: CliCommand, run: Run): void {
  program
    .command("doctor")
    .example("qm doctor")
    .allowInTool()
    .description("check that everything a call needs works on this machine")
    .action(run(doctor))
}

/** Checks everything a call needs on this machine. Exits with 1 if something is broken. */
async function doctor(context: CliContext): Promise<number> {
  const { io, flags } = context
  const { findings: config, loaded } = await checkConfig(context)
  const findings = [
    checkNode(process.versions.node),
    ...config,
    ...(loaded
      ? [
          ...(await checkApp(context, loaded)),
          ...checkModes(loaded.dataDir),
          ...checkWritable(loaded.dataDir),
          await checkDisk(loaded),
          ...(await checkHooks(context)),
        ]
      : []),
    checkTerminal(io),
  ]
  if (flags.json) printOutput(context, printableJson(findings))
  else {
    const { green, yellow, red, dim } = await terminalStyleFor(io.stdout, io.env)
    const colours = { ok: green, missing: yellow, note: dim, broken: red }
    const line = ({ state, sentence }: DoctorFinding) =>
      `${colours[state](state.padEnd(8))} ${printable(sentence).replaceAll("\n", `\n${" ".repeat(9)}`)}`
    printOutput(context, asTyped(io, findings.map(line).join("\n")))
  }
  return findings.some(({ state }) => state === "broken") ? 1 : 0
}

function checkNode(version: string): DoctorFinding {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const enough = major > 20 || (major === 20 && minor >= 19)
  return enough ? ok(`Node.js ${version}.`) : broken(`Node.js ${version} is too old. Install 20.19 or newer.`)
}

async function checkConfig({
  io,
  runtime,
  flags,
}: CliContext): Promise<{ findings: DoctorFinding[]; loaded?: LoadedConfig }> {
  try {
    const loaded = await runtime.loadConfig(flags)
    const { configFile, trusted, warnings } = loaded
    const file =
      configFile === undefined
        ? note("There is no configuration file, so the defaults apply. 'qm init' writes one.")
        : trusted
          ? ok(`Configuration ${configFile}, trusted.`)
          : note(
              `Configuration ${configFile} is not trusted: only its stricter settings apply. Read it, then run 'qm trust'.`,
            )
    // The warning about an untrusted file says the same and what is ignored.
    const said = !trusted && warnings.length > 0 ? [] : [file]
    const { modelKeyNotes } = await import("../../../../config/model-key-notes.ts")
    const keys = modelKeyNotes(loaded.config, io.env).map(({ sentence }) => sentence)
    return { findings: [...said, ...[...warnings, ...keys].map(note)], loaded }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { findings: error.message.split("\n").map((line) => broken(`Configuration: ${line}`)) }
  }
}

function checkModes(dataDir: string): DoctorFinding[] {
  const check = (path: string, wanted: number): DoctorFinding[] => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode
    if (mode === undefined) return []
    const text = (mode & 0o777).toString(8).padStart(4, "0")
    if ((mode & 0o077) === 0 || process.platform === "win32") return [ok(`${path} has mode ${text}.`)]
    return [note(`${path} has mode ${text}, so other users can read it. Run: chmod ${wanted.toString(8)} ${path}`)]
  }
  return [...check(dataDir, 0o700), ...check(join(dataDir, "record.key"), 0o600)]
}

/** Writes in the data folder, or in the folder where it will be. */
function checkWritable(dataDir: string): DoctorFinding[] {
  let folder = dataDir
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  try {
    rmdirSync(mkdtempSync(join(folder, ".qm-doctor-")))
    return []
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? errorMessage(error)
    return [
      broken(
        `${folder} cannot be written (${why}), so no call can be logged, and none runs. Choose another data folder with --data <folder>, or data.dir in the configuration.`,
      ),
    ]
  }
}

async function checkDisk({ dataDir, workspace }: LoadedConfig): Promise<DoctorFinding> {
  try {
    const { bavail, bsize } = await statfs(existsSync(dataDir) ? dataDir : workspace)
    const gigabytes = (bavail * bsize) / 1e9
    const text = `${gigabytes.toFixed(1)} GB are free on the disk of the data folder.`
    return gigabytes < 0.05 ? broken(`${text} Free some space: a call that cannot be logged does not run.`) : ok(text)
  } catch {
    return note(`The free space at ${dataDir} cannot be determined.`)
  }
}

function checkTerminal(io: Io): DoctorFinding {
  if (isAttended(io)) return ok("There is a terminal, so you can be asked for approval.")
  return note("There is no terminal here, so calls that need approval wait for 'qm approvals'.")
}
