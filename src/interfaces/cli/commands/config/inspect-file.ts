import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigError, type ConfigProblem } from "../../../../config/config-error.ts"
import type { InspectedConfig } from "../../../../config/inspect.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { newId } from "../../../../lib/new-id.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { mcpName } from "../../../../core/mcp.ts"
import { pathText } from "../../../../schema/problems.ts"
import type { CliContext, Io, Runtime } from "../../common/context.ts"
import { CannotOpen, UsageError } from "../../common/usage.ts"

export interface FileReport extends InspectedConfig {
  rules: number
  /** Worth knowing, and no reason to refuse the file. */
  notes: string[]
}

/** Checks a configuration file as it is written: its keys, its rules with their examples, and every name. Starts nothing. */
export async function inspectFile(context: CliContext, given: string | undefined): Promise<FileReport> {
  const { inspectConfig } = await import("../../../../config/inspect.ts")
  const inspected = inspectConfig(given, context.io)
  const { file } = inspected
  if (inspected.harmless === undefined) return { ...inspected, rules: 0, notes: [] }
  const harmless = await withKnownRoles(inspected.harmless, inspected)
  const opened = await openHarmless(context.runtime, harmless)
  if ("problem" in opened) {
    const problems = [...inspected.problems, { file, key: "", sentence: opened.problem }]
    return { ...inspected, problems, rules: 0, notes: [] }
  }
  try {
    const found = await problemsIn(opened.app, inspected, harmless, context.io.env)
    return { ...inspected, ...found, problems: inOrder([...inspected.problems, ...found.problems]) }
  } finally {
    await opened.app.close()
  }
}

/** Notes the roles that do not exist, and puts one that exists in their place, so that the other mistakes are found too. */
async function withKnownRoles(loaded: LoadedConfig, { problems, placeOf }: InspectedConfig): Promise<LoadedConfig> {
  const { org } = loaded.config
  const { unknownRoles } = await import("../../../../config/unknown-names.ts")
  const unknown = org === undefined ? [] : unknownRoles(org)
  if (org === undefined || unknown.length === 0) return loaded
  for (const { path, sentence } of unknown)
    problems.push({ ...placeOf(path), key: pathText(path), sentence: `'${pathText(path)}': ${sentence}` })
  const names = unknown.map(({ name }) => name)
  const agents = org.agents?.map((agent) => (names.includes(agent.role) ? { ...agent, role: "operator" } : agent))
  return { ...loaded, config: { ...loaded.config, org: { ...org, ...(agents && { agents }) } } }
}

/** Uses what the data folder knows. One that is not this user's is not opened; an empty store takes its place. */
async function openHarmless(
  runtime: Runtime,
  loaded: LoadedConfig,
): Promise<{ app: Quartermaster } | { problem: string }> {
  try {
    return { app: await runtime.openApp(loaded, { readOnly: true }) }
  } catch (error) {
    if (error instanceof UsageError || error instanceof CannotOpen) return { problem: errorMessage(error) }
    if (!(error instanceof ConfigError)) throw error
    return openHarmless(runtime, { ...loaded, dataDir: join(tmpdir(), newId()) })
  }
}

/** `starts` is what brings tools that the app does not have yet. */
export async function problemsIn(
  app: Quartermaster,
  { starts, servers, placeOf, missesNames }: Pick<InspectedConfig, "starts" | "servers" | "placeOf" | "missesNames">,
  { config, ruleSources }: LoadedConfig,
  env: Io["env"],
): Promise<Pick<FileReport, "problems" | "notes" | "rules">> {
  const { unknownNames } = await import("../../../../config/unknown-names.ts")
  const list = app.rules.list().filter(({ source }) => ruleSources.includes(source))
  const hasPlugins = starts.some((line) => /\((plugins|modules)\)$/.test(line))
  /** Reports whether an unstarted part may bring it: a plugin any name, a server those that begin with its own. */
  const mayCome = (tool: string) =>
    app.findTool(tool) === undefined &&
    tool !== "*" &&
    (hasPlugins ||
      (starts.length > 0 &&
        servers.some((server) => tool.startsWith(mcpName(server, "")) || tool === `group:${server}`)))
  const problems: ConfigProblem[] = []
  const notes: string[] = []
  for (const { kind, source, sentence } of app.rules.flaws().filter((flaw) => ruleSources.includes(flaw.source))) {
    const path = pathOfRule(source)
    const tool = list.find((rule) => rule.source === source)?.tool ?? ""
    const problem = { ...placeOf(path), key: pathText(path), sentence: `'${pathText(path)}': ${sentence}` }
    if (kind === "dead" && missesNames) continue
    if (kind === "dead" && mayCome(tool)) notes.push(notYet(problem, tool))
    else if (kind === "shadowed" || kind === "doubtful") notes.push(noteText(problem))
    else problems.push(problem)
  }
  const known = namesIn(app)
  const unknown = unknownNames(config, { ...known, groups: [...known.groups, ...servers] })
  for (const { path, kind, name, sentence } of missesNames ? [] : unknown) {
    const problem = { ...placeOf(path), key: pathText(path), sentence: `'${pathText(path)}': ${sentence}` }
    // People also create roles and departments later, and until then the list lets nobody in.
    const isLimit = path[1] === "permissions" && kind !== "tool"
    if ((kind === "tool" && mayCome(name)) || (kind === "group" && hasPlugins)) notes.push(notYet(problem, name))
    else if (isLimit) notes.push(noteText(problem))
    else problems.push(problem)
  }
  const { modelKeyNotes } = await import("../../../../config/model-key-notes.ts")
  for (const { path, sentence } of modelKeyNotes(config, env))
    notes.push(noteText({ ...placeOf(path), key: pathText(path), sentence }))
  return { problems, notes: [...notes, ...(await notesAboutApprovers())], rules: list.length }

  async function notesAboutApprovers(): Promise<string[]> {
    const { approverNotes } = await import("../../../../config/approver-notes.ts")
    const { loginName } = await import("../../../../config/identify-person.ts")
    const found = approverNotes({
      rules: list.map((rule) => ({ ...rule, path: pathOfRule(rule.source) })),
      people: app.org.listPeople().filter(({ status }) => status === "active"),
      configured: (config.org?.people ?? []).map(({ id }) => id),
      login: loginName(),
    })
    return found.map(({ path, sentence }) =>
      noteText({ ...placeOf(path), key: pathText(path), sentence: `'${pathText(path)}': ${sentence}` }),
    )
  }
}

/** Returns the path of a rule in its file, by `quartermaster.yml rules[3]`. */
function pathOfRule(source: string): (string | number)[] {
  return ["rules", Number(/\[(\d+)\]$/.exec(source)?.[1] ?? 0)]
}

function inOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted((one, other) => one.file.localeCompare(other.file) || (one.line ?? 0) - (other.line ?? 0))
}

/** For a name that only what is started later can have. */
function notYet(problem: ConfigProblem, name: string): string {
  const from = "Nothing has this name yet: the server or plugin that would bring it is not running."
  return noteText({ ...problem, sentence: `'${problem.key}' names '${name}'. ${from}` })
}

function noteText({ file, line, sentence }: ConfigProblem): string {
  return `${file}:${line}: ${sentence}`
}

function namesIn(app: Quartermaster) {
  const isActive = ({ status }: { status: string }) => status === "active"
  return {
    hasTool: (name: string) => app.findTool(name) !== undefined,
    tools: app.visibleTools("operator").map(({ name }) => name),
    groups: app.listGroups().map(({ id }) => id),
    roles: app.org.listRoles().filter(isActive),
    departments: app.org
      .listDepartments()
      .filter(isActive)
      .map(({ id }) => id),
    agents: app.org
      .listAgents()
      .filter(isActive)
      .map(({ id }) => id),
  }
}
