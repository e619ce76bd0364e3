import { z } from "zod"
import { parseUrl } from "../lib/url.ts"
import { mcpRevisions } from "../core/mcp.ts"
import { builtinGroups } from "../registry/builtin-groups.ts"

const text = z.string().min(1)
const texts = z.record(text, z.string())
const milliseconds = z.int().min(1).max(600_000)
const transports = ["stdio", "http", "sse", "streamable-http", "streamableHttp"] as const

const auth = z.strictObject({
  grant: z
    .enum(["code", "client_credentials"])
    .optional()
    .describe("code: a person signs in with qm mcp login; client_credentials: signs in with the client secret."),
  clientId: text
    .optional()
    .describe("Id of the client you registered at the server (default: Quartermaster registers itself)."),
  clientSecret: text.optional().describe("Secret of that client; write it as ${A_VARIABLE}."),
  clientMetadataUrl: z
    .url({ protocol: /^https$/, error: "it must be a URL that begins with https://" })
    .refine((value) => parseUrl(value)?.pathname !== "/", "it must be the URL of a document, with a path")
    .optional()
    .describe("URL of a document that describes the client, for servers that use that URL as the client id."),
  scopes: z.array(text).optional().describe("Scopes to request besides those the server requires."),
  issuer: z
    .url({ protocol: /^https?$/, error: "it must be a URL that begins with http:// or https://" })
    .optional()
    .describe(
      "The only authorization server that may receive clientId and clientSecret (default: the first one used).",
    ),
  redirectPort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe("Port of the redirect URL, if the server requires a fixed one."),
})

const fields = {
  command: text.optional().describe("The server program; it speaks MCP on stdin and stdout."),
  args: z.array(z.string()).optional().describe("The program's arguments."),
  env: texts.optional().describe("Environment variables of the program; it gets only a few others."),
  cwd: text.optional().describe("The folder the program starts in, relative to this file."),
  url: z
    .url({ protocol: /^https?$/, error: "it must be a URL that begins with http:// or https://" })
    .optional()
    .describe("URL of a remote server."),
  headers: texts.optional().describe("HTTP headers sent with every request."),
  type: z.enum(transports).optional().describe("The transport (default: derived from command or url)."),
  transport: z.enum(transports).optional().describe("The same as type."),
  enabled: z.boolean().optional().describe("false disables the server."),
  disabled: z.boolean().optional().describe("true is the same as enabled: false."),
  layer: z
    .string()
    .regex(/^(system|department:.+|agent:.+)$/s, "it must be system, department:<id> or agent:<id>")
    .optional()
    .describe("Who gets its tools: system (everyone, the default), department:<id> or agent:<id>."),
  prefix: z.boolean().optional().describe("false uses the server's tool names without the prefix mcp:<server>:."),
  trust: z
    .enum(["first", "ask"])
    .optional()
    .describe(
      "first: the tools of the first connection are trusted, a person approves later changes; ask: a person approves all.",
    ),
  trustReadOnly: z
    .boolean()
    .optional()
    .describe("true allows its tools that say that they only read (readOnlyHint) to run unasked, like an allow rule."),
  sampling: z
    .enum(["refuse", "caller"])
    .optional()
    .describe("Sampling requests of the server: refuse them, or pass them to the client that made the call."),
  roots: z
    .enum(["workspace", "caller"])
    .optional()
    .describe(
      "The folders the server is told of: the workspace, or those of the client that made the call; none when left out. Some servers use them in place of the folders in their arguments.",
    ),
  protocol: z
    .enum(mcpRevisions)
    .optional()
    .describe("The only revision of the protocol to speak with it (default: the newest that it knows)."),
  auth: auth.optional().describe("How to sign in to the server, if it requires that."),
  timeout: milliseconds.optional().describe("Time limit of a call to its tools in milliseconds."),
  connectTimeout: milliseconds.optional().describe("Time limit for connecting in milliseconds."),
}

const entry = z.strictObject(fields)
const named = z.strictObject({ name: text.describe("The server's name, which is also its group."), ...fields })

export type ServerEntry = z.infer<typeof entry>

/** Servers by name, as MCP clients write them, or a list of servers with a name each. */
export const serversSchema = z.union([
  z.record(text, entry).superRefine((servers, { addIssue }) => {
    for (const name of Object.keys(servers)) {
      const message = invalidServerName(name)
      if (message !== undefined) addIssue({ code: "custom", path: [name], message })
    }
  }),
  z.array(named).superRefine((servers, { addIssue }) => {
    for (const [index, { name }] of servers.entries()) {
      const twice = servers.findIndex((other) => other.name === name) !== index
      const message = twice ? `there is another server '${name}' before it` : invalidServerName(name)
      if (message !== undefined) addIssue({ code: "custom", path: [index, "name"], message })
    }
  }),
])

/** Why a server cannot have this name, to follow "is not right:"; undefined if it can. */
export function invalidServerName(name: string): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$/.test(name)) {
    return `'${name}' cannot be a server's name, which has at most 48 letters, digits and . _ - and begins with a letter or digit`
  }
  if (builtinGroups.some(([id]) => id === name)) {
    return `'${name}' is a group of Quartermaster's own, and a server is a group too; give it another name`
  }
  return undefined
}
