import { z } from "zod"
import { ToolPermissionLevel } from "../model/permission.ts"
import { usualTrash } from "../model/files.ts"
import { usualLimits } from "../model/processes.ts"
import { ruleSchema } from "../model/rule-schema.ts"
import { serversSchema } from "./mcp-server-schema.ts"
import { experimentsSchema, modulesSchema, pluginsSchema, toolKeys } from "./tool-schema.ts"

const name = z.string().min(1)
const names = z.array(name)
const count = z.int().min(1)
const pins = z.record(name, name).optional().describe("Tool name to the version that is used.")

const rateLimit = z.strictObject({
  maxCallsPerMinute: count.optional().describe("Calls an agent may start in a minute."),
  maxCallsPerHour: count.optional().describe("Calls an agent may start in an hour."),
})

const permission = z.strictObject({
  level: z.enum(ToolPermissionLevel).optional().describe("Public runs, moderate asks, sensitive asks every time."),
  requireExecutionApproval: z.boolean().optional().describe("True asks a person before every run."),
  requireResultApproval: z
    .enum(["never", "on-error", "always"])
    .optional()
    .describe("When a person releases the result before the model reads it."),
  dangerous: z.boolean().optional().describe("True makes the tool sensitive."),
  requireConfirmation: z.boolean().optional().describe("The same as dangerous."),
  allowedRoles: names.optional().describe("Roles that may use the tool; an empty list means every role."),
  allowedDepartments: names.optional().describe("Departments that may use the tool; an empty list means all."),
  minLevel: z.number().optional().describe("The level an agent needs."),
  rateLimit: rateLimit.optional().describe("How often an agent may call the tool."),
})

const role = z.strictObject({
  id: name.optional().describe("The role's id; its name when left out."),
  name: name.describe("The role's name."),
  rolePrompt: z.string().optional().describe("What the model is told about its role."),
  toolGroups: names.nullable().optional().describe("Groups its agents are given; null means all."),
  department: name.optional().describe("The department of its agents."),
  level: z.number().optional().describe("The level of its agents."),
  dialect: z.enum(["native", "claude", "classic"]).optional().describe("The tool names its model is used to."),
  llmServiceId: name.nullable().optional().describe("The model its agents talk to; null means the usual one."),
  pins,
})

const agent = z.strictObject({
  id: name.describe("The agent's id."),
  role: name.describe("The name or id of its role."),
  department: name.optional().describe("Its department; the role's when left out."),
  level: z.number().optional().describe("Its level; the role's when left out."),
  parent: name.optional().describe("The id of the agent above it."),
  pins,
})

const department = z.strictObject({
  id: name.describe("The department's id."),
  name: name.optional().describe("What people call it."),
})

const person = z.strictObject({
  id: name.describe("The person's id."),
  name: name.optional().describe("What others call them."),
  roles: names.optional().describe("Their roles; a rule may ask for an approver by role."),
  tokenHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "it must be 64 hexadecimal digits")
    .optional()
    .describe("SHA-256 of the token that proves who they are; without it they answer on this machine only."),
})

const data = z.strictObject({
  dir: name.optional().describe("The folder for what is kept, seen from this file; .quartermaster when left out."),
  durability: z
    .enum(["crash", "power"])
    .optional()
    .describe("crash survives a killed process; power also survives a power cut, and is slower."),
})

const tools = z.strictObject({
  enabled: names.optional().describe("The only tools there are; every tool when left out, none when empty."),
  timeout: count.max(600_000).optional().describe("Milliseconds a run may take."),
  maxConcurrent: count.optional().describe("How many tools may run at once."),
  permissions: z.record(name, permission).optional().describe("Tool name to who may use it and who is asked."),
  mcpServers: serversSchema.optional().describe("The same as mcpServers; also a list with a name each."),
  ...toolKeys,
})

const org = z.strictObject({
  people: z.array(person).optional().describe("The people who answer approvals."),
  roles: z.array(role).optional().describe("The roles, and the groups of tools they are given."),
  agents: z.array(agent).optional().describe("The agents and their roles."),
  departments: z.array(department).optional().describe("The departments."),
  levelOrder: z.enum(["asc", "desc"]).optional().describe("asc: a larger level has more rights; desc: a smaller one."),
  defaultToolGroups: names.optional().describe("Groups of a role that names none; all when left out."),
})

const telemetry = z.strictObject({
  enabled: z.boolean().optional().describe("True tells ended calls as OpenTelemetry spans; the SDK is yours to load."),
  content: z.boolean().optional().describe("True also sends inputs, results and errors, masked as the record is."),
})

const approvals = z.strictObject({
  deadline: z.number().positive().optional().describe("Minutes a call waits for an answer before it ends."),
  unattended: z.enum(["wait", "reject"]).optional().describe("What happens when nobody is there to answer."),
})

const notice = z
  .strictObject({
    webhook: z
      .url({ protocol: /^https?$/, error: "it must be an address that begins with http:// or https://" })
      .optional()
      .describe("An address that is sent JSON."),
    command: z
      .union([name, names.min(1)], { error: "it must be a text for the shell, or a list of a program and its words" })
      .optional()
      .describe("A list is run as it is; a text is run by the shell."),
  })
  .refine(({ webhook, command }) => (webhook === undefined) !== (command === undefined), {
    error: "it must have either a webhook or a command",
  })

const server = z.strictObject({
  host: name
    .optional()
    .describe("The address 'qm serve' listens on; keep it on this machine unless a proxy is before it."),
  port: z.int().min(0).max(65_535).optional().describe("The port it listens on; 0 takes a free one."),
  allowedHosts: names.optional().describe("Names it may be asked for besides those of this machine."),
  allowedOrigins: names.optional().describe("Host names of web pages that may call it besides those of this machine."),
  maxBodyBytes: count.optional().describe("The largest request it reads, in bytes."),
})

const keys = z.strictObject({
  data: data.optional().describe("Where and how safely data is kept; a plain text is the folder."),
  workspace: name
    .optional()
    .describe("The folder the tools work in, seen from this file; the working folder if left out."),
  agent: name.optional().describe("The agent a call is made as when it names none."),
  tools: tools.optional().describe("Which tools there are and what limits them."),
  agents: z
    .strictObject({
      maxConcurrentTools: count
        .optional()
        .describe("How many tools an agent may run at once; the smaller of this and tools.maxConcurrent counts."),
    })
    .optional()
    .describe("What limits the agents."),
  org: org.optional().describe("Roles, agents and departments."),
  rules: z.array(ruleSchema).optional().describe("What is allowed, asked about or denied, and why."),
  notify: z.array(notice).optional().describe("Who is told when something waits for a person."),
  approvals: approvals.optional().describe("How long and for whom a question waits."),
  telemetry: telemetry.optional().describe("Whether spans are made of calls."),
  mcpServers: serversSchema.optional().describe("MCP servers whose tools are offered, by name; each is a group."),
  server: server.optional().describe("Where 'qm serve' listens, and to whom."),
  plugins: pluginsSchema.optional().describe("Files that bring tools; they run with all rights this program has."),
  modules: modulesSchema.optional().describe("Modules that bring tools, as a list or by name with what each is given."),
  experiments: experimentsSchema.optional().describe("Trying two versions of a tool side by side."),
})

/** Every key that works in this version. A later version's keys are in `later.ts`. */
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

/** What holds when nobody configures anything. They are not filled in: a tool may have a default of its own. */
export const defaults = {
  data: { durability: "crash" },
  tools: {
    timeout: 30_000,
    maxConcurrent: 3,
    maxFileSize: 10 * 1024 * 1024,
    shell: { mode: "ask", sandbox: "auto", limits: usualLimits },
    trash: usualTrash,
  },
  agents: { maxConcurrentTools: 3 },
  org: { levelOrder: "asc" },
  approvals: { deadline: 30, unattended: "wait" },
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
