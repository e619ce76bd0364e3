import { cpSync, existsSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { findConfig } from "../config/find.ts"
import { findProject, sampleFolderName } from "../config/find-project.ts"
import { sampleMaker } from "../model/sample.ts"
import type { ChangedBy } from "../model/organisation-admin.ts"
import type { CliApp, CliContext } from "./context.ts"

/**
 * The context of the sample, where `serve --sample` finds neither configuration nor data: its files are copied into a folder
 * of their own and trusted. Undefined when there is something to serve already.
 */
export async function sampleContext(context: CliContext): Promise<CliContext | undefined> {
  const { io, flags } = context
  const { cwd, env, home } = io
  const isGiven = flags.config !== undefined || flags.data !== undefined || flags.set.length > 0
  const folder = join(cwd, sampleFolderName)
  const config = join(folder, "quartermaster.yml")
  const project = findProject(cwd, home)
  const isSample = project === folder
  if (isGiven || (project !== undefined && !isSample)) return undefined
  if (!isSample && findConfig({ cwd, env, home }, project) !== undefined) return undefined
  if (!existsSync(folder)) {
    cpSync(templateFolder(), folder, { recursive: true })
    const { trust } = await import("../config/trust.ts")
    trust(config, home, env)
  }
  return { ...context, flags: { ...flags, config } }
}

/** The sample's files, beside dist in the package and in a clone. */
export function templateFolder(): string {
  const places = ["../examples/sample", "../../examples/sample"].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  )
  return places.find((place) => existsSync(place)) ?? places[0]!
}

const roles = [
  {
    id: "dev",
    name: "developer",
    department: "engineering",
    rolePrompt: "You write and change code in the workspace.",
    toolGroups: ["workspace", "command", "code", "data", "system", "interaction", "todo", "context"],
  },
  {
    id: "tess",
    name: "tester",
    department: "engineering",
    rolePrompt: "You run the tests and say what fails.",
    toolGroups: ["workspace", "command", "interaction", "context", "pipeline"],
  },
  {
    id: "ana",
    name: "analyst",
    department: "research",
    rolePrompt: "You look things up and summarise data.",
    toolGroups: ["workspace", "network", "data", "interaction", "context"],
  },
] as const

/** Adds the sample's organisation and a few calls, once. */
export async function addSample(app: CliApp): Promise<void> {
  if (app.org.listRoles().some(({ createdBy }) => createdBy === sampleMaker)) return
  const by: ChangedBy = { kind: "person", id: sampleMaker }
  await app.org.createDepartment({ id: "engineering", name: "Engineering" }, by)
  await app.org.createDepartment({ id: "research", name: "Research" }, by)
  for (const { id, ...role } of roles) {
    await app.org.createRole(role, by)
    await app.org.createAgent({ id, role: role.name }, by)
  }
  for (const [agentId, tool, input, intent] of firstCalls)
    // Not awaited: what asks a person runs once somebody has approved it.
    void app.call({ agentId, tool, input, intent, taskId: "try-it" })
  await until(async () => (await app.approvals.list()).length === 3)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100 && !(await holds()); tries++) await sleep(20)
}

/** Some run, one is refused, two wait and the result of one is held: every page has something to show. */
const firstCalls = [
  ["dev", "list_files", { path: "." }, "I look at what is here."],
  ["dev", "read_file", { path: "src/greet.js" }, "I read what I am going to change."],
  ["ana", "read_file", { path: "data/customers.csv" }, "I count customers by city."],
  ["ana", "run_command", { command: "npm test" }, "I check that the tests pass."],
  [
    "dev",
    "edit_file",
    { path: "docs/notes.md", edits: [{ oldText: "in other languages", newText: "in Chinese and Spanish" }] },
    "The notes should name the languages that were decided.",
  ],
  ["tess", "run_command", { command: "npm test && ls -l test" }, "I run the tests before the change."],
] as const
