import { runLimits } from "./run-limits.ts"
import { z } from "zod"
import { ToolPermissionLevel } from "../core/permission.ts"
import { defaultTrashLimits } from "../platform/files/file-access.ts"
import { defaultCommandLimits } from "../platform/processes/process-access.ts"
import { scopes } from "../core/organisation.ts"
import { ruleSchema } from "../schema/rule-schema.ts"
import { isLoopback, parseUrl } from "../lib/url.ts"
import { databasesSchema } from "./databases-schema.ts"
import { serversSchema } from "./mcp-server-schema.ts"
import { modelsSchema } from "./models-schema.ts"
import { experimentsSchema, modulesSchema, pluginsSchema, toolKeys } from "./tool-schema.ts"

const name = z.string().min(1)
const names = z.array(name)
const count = z.int().min(1)
const pins = z.record(name, name).optional().describe("Versions to use, by tool name.")

const rateLimit = z.strictObject({
  maxCallsPerMinute: count.optional().describe("How many calls an agent may start per minute."),
  maxCallsPerHour: count.optional().describe("How many calls an agent may start per hour."),
})

const permission = z.strictObject({
  level: z
    .enum(ToolPermissionLevel)
    .optional()
    .describe("public runs without approval, moderate needs approval, sensitive needs approval every time."),
  requireExecutionApproval: z.boolean().optional().describe("true asks a person before every run."),
  requireResultApproval: z
    .union([z.enum(["never", "on-error", "always"]), z.boolean()])
    .optional()
    .describe("When a person must release the result before the model sees it; true means always."),
  dangerous: z.boolean().optional().describe("true makes the tool sensitive."),
  requireConfirmation: z.boolean().optional().describe("The same as dangerous."),
  allowedRoles: names
    .optional()
    .describe("Roles that may use the tool, by name or id; an empty list means every role."),
  allowedDepartments: names.optional().describe("Departments that may use the tool; an empty list means all."),
  minLevel: z.number().optional().describe("The level an agent needs."),
  rateLimit: rateLimit.optional().describe("How often an agent may call the tool."),
})

const role = z.strictObject({
  id: name.optional().describe("The role's id (default: its name)."),
  name: name.describe("The role's name."),
  rolePrompt: z.string().optional().describe("Description of the role for the model."),
  toolGroups: names
    .nullable()
    .optional()
    .describe("Tool groups of its agents; left out: all (or org.defaultToolGroups); an empty list: no tools."),
  department: name.optional().describe("The department of its agents."),
  level: z.number().optional().describe("The level of its agents."),
  dialect: z.enum(["native", "claude", "classic"]).optional().describe("The tool names its model knows."),
  llmServiceId: name.nullable().optional().describe("The model service its agents use; null means the default one."),
  pins,
})

const agent = z.strictObject({
  id: name.describe("The agent's id."),
  role: name.describe("The name or id of its role."),
  department: name.optional().describe("Its department (default: the role's)."),
  level: z.number().optional().describe("Its level (default: the role's)."),
  parent: name.optional().describe("The id of its parent agent; it never has more rights than its parent."),
  folder: name
    .optional()
    .describe("The folder of the workspace that its model works in, and nothing else (default: its parent's)."),
  pins,
})

const department = z.strictObject({
  id: name.describe("The department's id."),
  name: name.optional().describe("Display name."),
})

const person = z.strictObject({
  id: name.describe("The person's id."),
  name: name.optional().describe("Display name."),
  roles: names.optional().describe("Their roles; a rule can require approvers with a role."),
  scopes: z
    .array(z.enum(scopes))
    .optional()
    .describe("What they may do in the console and over HTTP (default: read, call and approve)."),
  tokenHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "it must be 64 hexadecimal digits")
    .optional()
    .describe(
      "SHA-256 of the token that proves their identity; without it only the login of that name on this machine can act as them.",
    ),
  tokenExpiresAt: z.iso
    .date("it must be a date, for example 2027-01-31")
    .optional()
    .describe("When that token stops working, for example 2027-01-31 (default: never)."),
})

const data = z.strictObject({
  dir: name
    .optional()
    .describe("Folder for the database and the audit log, relative to this file (default: .quartermaster)."),
  durability: z
    .enum(["crash", "power"])
    .optional()
    .describe("crash: data survives a killed process; power: also a power cut, but slower."),
})

const tools = z.strictObject({
  enabled: names.optional().describe("Only these tools exist (default: all; an empty list means none)."),
  timeout: count.max(600_000).optional().describe("Time limit of a tool in milliseconds."),
  maxConcurrent: count.optional().describe("How many tools of an agent may run at once."),
  askIntent: z
    .boolean()
    .optional()
    .describe("Ask models why they make a call; approvers see the sentence, and nothing is decided by it."),
  permissions: z
    .record(name, permission)
    .optional()
    .describe("Who may use a tool and when a person is asked, by tool name."),
  mcpServers: serversSchema
    .optional()
    .describe("The same as mcpServers; can also be a list of servers with a name each."),
  ...toolKeys,
})

const org = z.strictObject({
  people: z.array(person).optional().describe("The people who answer approvals."),
  roles: z.array(role).optional().describe("The roles and their tool groups."),
  agents: z.array(agent).optional().describe("The agents and their roles."),
  departments: z.array(department).optional().describe("The departments."),
  levelOrder: z
    .enum(["asc", "desc"])
    .optional()
    .describe("asc: a higher level number has more rights; desc: a lower one has."),
  defaultToolGroups: names.optional().describe("Tool groups of roles that name none (default: all)."),
})

const agents = z.strictObject({
  maxConcurrentTools: count
    .optional()
    .describe("How many tools an agent may run at once; the smaller of this and tools.maxConcurrent applies."),
  maxRounds: count.optional().describe("How many answers with tool calls a model may give to one message."),
  maxCalls: count.optional().describe("How many tool calls a model may make for one message."),
  maxTokens: count
    .optional()
    .describe("How many tokens a conversation and those of its sub-agents may use; then a person is asked for more."),
  maxCost: z
    .number()
    .positive()
    .optional()
    .describe("How many US dollars they may cost, by the prices of the models; then a person is asked for more."),
  maxTreeCalls: count
    .optional()
    .describe(
      "How many tool calls a conversation and those of its sub-agents may make; then a person is asked for more.",
    ),
  perAgent: z
    .strictObject({
      maxTokens: count.optional().describe("How many tokens."),
      maxCost: z.number().positive().optional().describe("How many US dollars, by the prices of the models."),
      maxCalls: count.optional().describe("How many tool calls."),
    })
    .optional()
    .describe("What one agent may use in one conversation; then a person is asked for more."),
  budgetPerDay: z
    .strictObject({
      maxTokens: count.optional().describe("How many tokens."),
      maxCost: z.number().positive().optional().describe("How many US dollars, by the prices of the models."),
    })
    .optional()
    .describe(
      "What one agent may use in a day (UTC), over all its conversations and those of its sub-agents; then its runs end.",
    ),
  maxAgents: count.optional().describe("How many agents that agents created may live at once."),
  maxDepth: count
    .optional()
    .describe("How deep agents may create each other; with 1, agents that an agent created create none."),
  deadline: z
    .number()
    .positive()
    .optional()
    .describe("How many minutes the calls of a stored conversation wait for an answer (default: 7 days)."),
  keepDays: z
    .number()
    .positive()
    .optional()
    .describe("How many days a conversation is stored after it was last used; one that waits is not erased."),
})

const telemetry = z.strictObject({
  enabled: z
    .boolean()
    .optional()
    .describe("true sends ended calls as OpenTelemetry spans; your program must load the OpenTelemetry SDK."),
  content: z
    .boolean()
    .optional()
    .describe("true also sends inputs, results and errors, with secrets masked as in the audit log."),
})

const approvals = z.strictObject({
  deadline: z.number().positive().optional().describe("How many minutes a call waits for an answer before it expires."),
  unattended: z
    .enum(["wait", "reject"])
    .optional()
    .describe("What happens when no person can be asked: the call waits for an answer, or is rejected."),
  inClient: z
    .enum(["none", "medium", "all"])
    .optional()
    .describe(
      "What a person may approve in the dialog of an MCP client: nothing; calls of medium risk at most, except those of sensitive tools; or everything. The rest waits in the approval queue.",
    ),
  maxWaiting: count.optional().describe("How many calls of one agent wait for people at once; more are refused."),
})

const hooks = z.strictObject({
  askInClient: z
    .boolean()
    .optional()
    .describe(
      "true lets a coding agent's own dialog ask about a call of its own tools, where its risk is not high, no rule names who must agree, and the agent does ask people. What is allowed there counts as not verified.",
    ),
})

const notice = z
  .strictObject({
    webhook: z
      .url({ protocol: /^https?$/, error: "it must be a URL that begins with http:// or https://" })
      .optional()
      .describe("A URL that receives a JSON message."),
    command: z
      .union([name, names.min(1)], {
        error: "it must be a text for the shell, or a list of a program and its arguments",
      })
      .optional()
      .describe("A command to run: a list is a program and its arguments, a text is run by the shell."),
    person: name
      .optional()
      .describe(
        "The person who alone receives it: a link with which they answer is sent along (needs server.publicUrl).",
      ),
  })
  .refine(({ webhook, command }) => (webhook === undefined) !== (command === undefined), {
    error: "it must have either a webhook or a command",
  })

/** Links with secrets begin with it, so nobody between may read them. */
function isPublicUrl(text: string): boolean {
  const url = parseUrl(text)
  if (url === undefined || (text !== url.origin && text !== `${url.origin}/`)) return false
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))
}

const server = z.strictObject({
  host: name
    .optional()
    .describe("The address 'qm serve' listens on; one that other machines can reach needs publicUrl too."),
  port: z.int().min(0).max(65_535).optional().describe("The port it listens on; 0 means any free port."),
  publicUrl: z
    .string()
    .refine(isPublicUrl, {
      error: "it must be an https address without a path, such as https://tools.example; http is only for this machine",
    })
    .optional()
    .describe("The address that people open, where a proxy with TLS forwards to this server; links begin with it."),
  allowedHosts: names.optional().describe("Host names it answers to, besides those of this machine."),
  allowedOrigins: names.optional().describe("Host names of web pages that may call it besides its own."),
  maxBodyBytes: count.optional().describe("The largest request body, in bytes."),
})

const keys = z.strictObject({
  data: data.optional().describe("Where and how durably data is stored; a text instead of a section is the folder."),
  workspace: name
    .optional()
    .describe("The folder the tools work in, relative to this file (default: the folder of this file)."),
  language: z
    .enum(["en", "zh"])
    .optional()
    .describe("The language of group descriptions and refusals: en, or zh for Chinese (default: en)."),
  agent: name.optional().describe("The agent for calls that name none (default: operator)."),
  tools: tools.optional().describe("Which tools exist, and their limits."),
  agents: agents.optional().describe("Limits for agents and their conversations with models."),
  org: org.optional().describe("People, roles, agents and departments."),
  rules: z
    .array(ruleSchema)
    .optional()
    .describe("Rules that allow calls, ask a person or deny calls, each with a reason."),
  notify: z.array(notice).optional().describe("Notifications to send when something waits for a person."),
  approvals: approvals.optional().describe("What happens to calls that wait for approval."),
  hooks: hooks.optional().describe("The hooks of coding agents, which 'qm install' sets up."),
  telemetry: telemetry.optional().describe("OpenTelemetry spans of calls."),
  mcpServers: serversSchema
    .optional()
    .describe("MCP servers whose tools agents can use, by name; each server is a tool group."),
  server: server.optional().describe("Where 'qm serve' listens and which requests it accepts."),
  plugins: pluginsSchema.optional().describe("Plugin files with tools; they run with all rights of this program."),
  modules: modulesSchema.optional().describe("Modules with tools, as a list, or by name with the settings of each."),
  experiments: experimentsSchema.optional().describe("Experiments that compare two versions of a tool, by name."),
  models: modelsSchema.optional().describe("The models that agents talk to, by name."),
  databases: databasesSchema.optional().describe("Databases for the tools of the group databases, by name."),
})

/** Every key of the configuration. */
export const configSchema = keys
  .refine(({ mcpServers, tools: given }) => !(mcpServers && given?.mcpServers), {
    path: ["tools", "mcpServers"],
    error: "'mcpServers' is given too, and means the same; write all servers under one of them",
  })
  .refine(({ workspace, tools: given }) => workspace === undefined || given?.workspaceDir === undefined, {
    path: ["tools", "workspaceDir"],
    error: "'workspace' is given too, and means the same; keep one of them",
  })

export type Config = z.infer<typeof configSchema>

/** The defaults. They are not filled into the configuration, because a tool may have its own default. */
export const defaults = {
  language: "en",
  data: { durability: "crash" },
  tools: {
    timeout: 30_000,
    maxConcurrent: 3,
    askIntent: false,
    maxFileSize: 10 * 1024 * 1024,
    shell: { mode: "ask", sandbox: "auto", limits: defaultCommandLimits },
    trash: defaultTrashLimits,
  },
  agents: {
    maxConcurrentTools: 3,
    ...runLimits,
    maxAgents: 100,
    maxDepth: 5,
    deadline: 7 * 24 * 60,
    keepDays: 30,
  },
  org: { levelOrder: "asc" },
  approvals: { deadline: 30, unattended: "wait", inClient: "medium", maxWaiting: 100 },
  hooks: { askInClient: false },
  telemetry: { enabled: false, content: false },
  server: { host: "127.0.0.1", port: 7420, maxBodyBytes: 4 * 1024 * 1024 },
} as const satisfies Config

/** The JSON Schema editors use to complete and check a configuration file. */
export function configJsonSchema(): Record<string, unknown> {
  const json = z.toJSONSchema(configSchema, { io: "input" })
  const properties = json.properties ?? {}
  const { description, ...dataObject } = properties["data"] as Record<string, unknown>
  const dataOrText = { description, anyOf: [{ type: "string", minLength: 1 }, dataObject] }
  return { ...json, title: "Quartermaster", properties: { ...properties, data: dataOrText } }
}
