import type { Command } from "commander"
import { accessSync, constants, statSync } from "node:fs"
import { statfs } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { checkHouse } from "./doctor-house.ts"
import { broken, missing, note, ok, type Finding } from "./finding.ts"
import type { Io, Loaded, Run, Session } from "./house.ts"
import { jsonText, tell } from "./output.ts"
import { paintFor } from "../model/paint.ts"
import { isAttended } from "./session.ts"
import { settings } from "./usage.ts"

export function addDoctor(program: Command, run: Run): void {
  program.command("doctor").description("look at what a call needs on this machine").action(run(doctor))
}

/** Looks at everything a call needs on this machine, line by line; exit 1 when something needed now is broken. */
async function doctor(session: Session): Promise<number> {
  const { io, house, flags } = session
  const { findings: config, loaded } = await checkConfig(session)
  const findings = [
    checkNode(process.versions.node),
    ...config,
    ...(loaded
      ? [...(await checkHouse(session, loaded)), ...checkModes(loaded.dataDir), await checkDisk(loaded.dataDir)]
      : []),
    checkTerminal(io),
    checkBrowser(io),
  ]
  if (flags.json) tell(session, jsonText(findings, house))
  else {
    const { green, yellow, red, dim } = await paintFor(io.stdout, io.env)
    const colours = { ok: green, missing: yellow, note: dim, broken: red }
    const line = ({ state, sentence }: Finding) => `${colours[state](state.padEnd(8))} ${house.printable(sentence)}`
    tell(session, findings.map(line).join("\n"))
  }
  return findings.some(({ state }) => state === "broken") ? 1 : 0
}

function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const enough = major > 20 || (major === 20 && minor >= 19)
  return enough ? ok(`Node.js ${version}.`) : broken(`Node.js ${version} is too old. Install 20.19 or newer.`)
}

async function checkConfig({ house, flags }: Session): Promise<{ findings: Finding[]; loaded?: Loaded }> {
  try {
    const loaded = await house.loadConfig({ configPath: flags.config, overrides: settings(flags.set, flags.data) })
    const { configFile, trusted, warnings } = loaded
    const file =
      configFile === undefined
        ? note("There is no configuration file, so the defaults hold. 'qm init' writes one.")
        : trusted
          ? ok(`Configuration ${configFile}, trusted.`)
          : note(`Configuration ${configFile} is not trusted: only what tightens counts. Read it, then run 'qm trust'.`)
    return { findings: [file, ...warnings.map(note)], loaded }
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ConfigError") throw error
    return { findings: error.message.split("\n").map((line) => broken(`Configuration: ${line}`)) }
  }
}

function checkModes(dataDir: string): Finding[] {
  const check = (path: string, wanted: number): Finding[] => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode
    if (mode === undefined) return []
    const text = (mode & 0o777).toString(8).padStart(4, "0")
    if ((mode & 0o077) === 0 || process.platform === "win32") return [ok(`${path} has mode ${text}.`)]
    return [note(`${path} has mode ${text}, so others can look into it. Run: chmod ${wanted.toString(8)} ${path}`)]
  }
  return [...check(dataDir, 0o700), ...check(join(dataDir, "record.key"), 0o600)]
}

async function checkDisk(dataDir: string): Promise<Finding> {
  try {
    const { bavail, bsize } = await statfs(dataDir)
    const gigabytes = (bavail * bsize) / 1e9
    const text = `${gigabytes.toFixed(1)} GB are free where the data is.`
    return gigabytes < 0.05 ? broken(`${text} Make room: a call that cannot be written down does not run.`) : ok(text)
  } catch {
    return note(`How much room there is at ${dataDir} cannot be told.`)
  }
}

function checkTerminal(io: Io): Finding {
  if (isAttended(io)) return ok("There is a terminal, so you can be asked for approval.")
  return note("There is no terminal here, so calls that need a person's yes wait for 'qm approvals'.")
}

function checkBrowser(io: Io): Finding {
  const found = findProgram(io, ["chromium", "chromium-browser", "google-chrome"])
  const why = "later versions drive it as a browser"
  if (found !== undefined) return ok(`${found}; ${why}.`)
  return missing(`chromium is not needed yet; ${why}. Debian and Ubuntu: apt install chromium`)
}

function findProgram({ env }: Io, names: readonly string[]): string | undefined {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "")
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
