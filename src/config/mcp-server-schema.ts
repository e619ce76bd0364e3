import { z } from "zod"
import { readUrl } from "../model/address.ts"
import { builtinGroups } from "../model/builtin-groups.ts"

const text = z.string().min(1)
const texts = z.record(text, z.string())
const milliseconds = z.int().min(1).max(600_000)
const transports = ["stdio", "http", "sse", "streamable-http", "streamableHttp"] as const

const auth = z.strictObject({
  grant: z
    .enum(["code", "client_credentials"])
    .optional()
    .describe("code has a person sign in with qm mcp login; client_credentials signs in with the client's secret."),
  clientId: text.optional().describe("The client that you registered there; we register ourselves when left out."),
  clientSecret: text.optional().describe("That client's secret; write it as ${A_VARIABLE}."),
  clientMetadataUrl: z
    .url({ protocol: /^https$/, error: "it must be an address that begins with https://" })
    .refine((value) => readUrl(value)?.pathname !== "/", "it must be the address of a document, with a path")
    .optional()
    .describe("The address of a document that describes the client, for servers that take it as the client's id."),
  scopes: z.array(text).optional().describe("What to ask for besides what the server wants."),
  issuer: z
    .url({ protocol: /^https?$/, error: "it must be an address that begins with http:// or https://" })
    .optional()
    .describe("The only authorization server that sees clientId and clientSecret; the first one met when left out."),
  redirectPort: z.int().min(1).max(65_535).optional().describe("The port of the redirect address, where it is fixed."),
})

const fields = {
  command: text.optional().describe("The program that is the server; it is spoken to on its stdin and stdout."),
  args: z.array(z.string()).optional().describe("The program's arguments."),
  env: texts.optional().describe("Environment variables of the program; it gets few others."),
  cwd: text.optional().describe("The folder the program starts in, seen from this file."),
  url: z
    .url({ protocol: /^https?$/, error: "it must be an address that begins with http:// or https://" })
    .optional()
    .describe("The address of a server elsewhere."),
  headers: texts.optional().describe("Headers that are sent with every request to the address."),
  type: z.enum(transports).optional().describe("How it is spoken to; told from command or url when left out."),
  transport: z.enum(transports).optional().describe("The same as type."),
  enabled: z.boolean().optional().describe("False leaves the server out; it is not connected."),
  disabled: z.boolean().optional().describe("True is the same as enabled: false."),
  layer: z
    .string()
    .regex(/^(system|department:.+|agent:.+)$/s, "it must be system, department:<id> or agent:<id>")
    .optional()
    .describe("For whom its tools are: system, department:<id> or agent:<id>; everyone when left out."),
  prefix: z.boolean().optional().describe("False keeps the names the server gives its tools, without its own before."),
  trust: z
    .enum(["first", "ask"])
    .optional()
    .describe("first agrees to what the server offers when it is first met; ask has a person agree to that too."),
  sampling: z
    .enum(["refuse", "caller"])
    .optional()
    .describe("What becomes of its requests to sample: refused, or handed to the program that made the call."),
  roots: z
    .enum(["workspace", "caller"])
    .optional()
    .describe("Which folders it is told of: the workspace, or those of the program that made the call."),
  auth: auth.optional().describe("How one signs in at the address, where that is wanted."),
  timeout: milliseconds.optional().describe("Milliseconds a call of one of its tools may take."),
  connectTimeout: milliseconds.optional().describe("Milliseconds connecting may take."),
}

const entry = z.strictObject(fields)
const named = z.strictObject({ name: text.describe("The server's name, which is also its group."), ...fields })

export type ServerEntry = z.infer<typeof entry>

/** Servers by their names, as MCP clients write them, or in a list with a name each (S4). */
export const serversSchema = z.union([
  z.record(text, entry).superRefine((servers, { addIssue }) => {
    for (const name of Object.keys(servers)) {
      const message = nameProblem(name)
      if (message !== undefined) addIssue({ code: "custom", path: [name], message })
    }
  }),
  z.array(named).superRefine((servers, { addIssue }) => {
    for (const [index, { name }] of servers.entries()) {
      const twice = servers.findIndex((other) => other.name === name) !== index
      const message = twice ? `there is another server '${name}' before it` : nameProblem(name)
      if (message !== undefined) addIssue({ code: "custom", path: [index, "name"], message })
    }
  }),
])

/** Why a server cannot have that name, to go on from "is not right:"; undefined when it can. */
export function nameProblem(name: string): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$/.test(name)) {
    return `'${name}' cannot be a server's name, which has at most 48 letters, digits and . _ - and begins with a letter or digit`
  }
  if (builtinGroups.some(([id]) => id === name)) {
    return `'${name}' is a group of Quartermaster's own, and a server is a group too; give it another name`
  }
  return undefined
}
