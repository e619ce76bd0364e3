import { counted } from "../../../../lib/counted.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { describeOrphanedAgents } from "../../../../org/orphaned-agents.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { sandboxUnavailableSentence } from "../../../../core/errors.ts"
import { frozenText } from "../agents/agents.ts"
import { broken, missing, note, ok, type DoctorFinding } from "./doctor-finding.ts"
import type { CliContext } from "../../common/context.ts"
import { flawText } from "../rules/rule-text.ts"
import { isInsideTool } from "../../common/open-app.ts"

/** Opens the app and checks the store, the person, rules, agents, freezes, the sandbox, MCP servers and plugins. */
export async function checkApp(context: CliContext, loaded: LoadedConfig): Promise<DoctorFinding[]> {
  const { runtime } = context
  let app: Quartermaster | undefined
  try {
    const { sqliteVersion } = await import("../../../../store/sqlite/sqlite-version.ts")
    const { name, version } = await sqliteVersion()
    app = await runtime.openApp(loaded, { readOnly: true })
    const { total } = await app.audit.stats()
    return [
      ok(`SQLite ${version} (${name}) opens the database, which has ${counted(total, "call")}.`),
      await checkPerson(context, loaded, app),
      ...(loaded.trusted ? app.rules.flaws() : []).map((flaw) => note(`Rule: ${flawText(flaw)}`)),
      ...describeOrphanedAgents(app.org.listAgents()).map(note),
      ...app.frozen().map((freeze) => note(`Frozen: ${frozenText(freeze)}.`)),
      ...(await checkShadowed(context, loaded, app.org)),
      ...checkSandbox(app, loaded.config.tools?.shell?.mode === "sandbox"),
      ...(await checkServers(app)),
      ...checkPlugins(app),
    ]
  } catch (error) {
    return [broken(errorMessage(error))]
  } finally {
    await app?.close()
  }
}

async function checkPerson(
  { io, runtime, flags }: CliContext,
  loaded: LoadedConfig,
  app: Quartermaster,
): Promise<DoctorFinding> {
  if (isInsideTool(io))
    return note("This runs inside a tool (QM_INSIDE is set), so no person can answer or make changes here.")
  try {
    const { id, proved } = await runtime.identifyPerson(flags.as, loaded, app)
    return ok(`You are ${id}, proved by ${proved}.`)
  } catch (error) {
    return broken(errorMessage(error))
  }
}

/** Checks whether commands run in a sandbox, and explains what that means for approvals. */
function checkSandbox(app: Quartermaster, isMode: boolean): DoctorFinding[] {
  try {
    const layer = app.sandbox?.()
    if (layer === undefined) return []
    if (layer.kind === "bubblewrap") {
      return [
        ok(
          `Commands run in the bubblewrap sandbox: they write only in the workspace and have no network unless it is approved.${isMode ? "" : " A person approves each one, unless a rule allows it."}`,
        ),
        ...(isMode
          ? [ok("Shell mode 'sandbox': commands run in bubblewrap unasked, except what visibly deletes or overwrites.")]
          : []),
      ]
    }
    return [
      missing(
        `Commands run without a sandbox, because ${layer.because}. They have your own rights, so each needs approval unless it is proved harmless.`,
      ),
      ...(isMode ? [missing(sandboxUnavailableSentence(layer.because ?? "there is no sandbox"))] : []),
    ]
  } catch (error) {
    const sentence = errorMessage(error)
    return [broken(sentence), ...(isMode ? [missing(sandboxUnavailableSentence(sentence.replace(/\.$/, "")))] : [])]
  }
}

/** Starts every MCP server and reports those that cannot be used. */
async function checkServers({ mcp }: Quartermaster): Promise<DoctorFinding[]> {
  await mcp.ready(undefined, { all: true })
  return mcp.list().flatMap(({ name, state, tools, problem }) => {
    if (state === "disabled") return []
    if (state === "connected") return [ok(`MCP server ${name} starts and offers ${counted(tools, "tool")}.`)]
    return [broken(`MCP server ${name} cannot be used: ${problem ?? `it is still ${state}.`}`)]
  })
}

function checkPlugins({ plugins }: Quartermaster): DoctorFinding[] {
  return plugins.list().map(({ name, state, tools, problem }) => {
    if (state === "failed") return broken(`Plugin ${name} was not loaded: ${problem ?? "it failed."}`)
    return state === "off"
      ? note(`Plugin ${name} is off: ${problem ?? "it was switched off."}`)
      : ok(`Plugin ${name} is loaded and brings ${counted(tools.length, "tool")}.`)
  })
}

/** Stored roles, agents, departments and people that the configuration overrides by name. */
async function checkShadowed(
  { runtime }: CliContext,
  loaded: LoadedConfig,
  org: Quartermaster["org"],
): Promise<DoctorFinding[]> {
  if (loaded.config.org === undefined) return []
  const { org: _, ...config } = loaded.config
  const stored = await runtime.openApp({ ...loaded, config }, { readOnly: true })
  try {
    return shadowedNames(namesIn(stored.org), namesIn(org)).map((what) =>
      note(
        `The configuration and the store both have ${what}; the one in the configuration is used. Rename one of them.`,
      ),
    )
  } finally {
    await stored.close()
  }
}

/** Names such as `role developer`, with their source. */
type Names = ReadonlyMap<string, string>

function namesIn(org: Quartermaster["org"]): Names {
  const live = [
    ...org.listRoles().map(({ name, status, source }) => ({ name: `role ${name}`, status, source })),
    ...org.listAgents().map(({ id, status, source }) => ({ name: `agent ${id}`, status, source })),
    ...org.listDepartments().map(({ id, status, source }) => ({ name: `department ${id}`, status, source })),
    ...org.listPeople().map(({ id, status, source }) => ({ name: `person ${id}`, status, source })),
  ].filter(({ status }) => status === "active")
  return new Map(live.map(({ name, source }) => [name, source]))
}

/** The stored names that the configuration defines too. */
export function shadowedNames(stored: Names, merged: Names): string[] {
  return [...stored].flatMap(([name, source]) => {
    const now = merged.get(name)
    return source === "store" && now !== undefined && now !== "store" ? [name] : []
  })
}
