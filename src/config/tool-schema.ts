import { z } from "zod"

const name = z.string().min(1)
const names = z.array(name)
const megabytes = z
  .int()
  .min(1)
  .max(1024 * 1024)

const layer = z
  .string()
  .regex(/^(system|department:.+|agent:.+)$/, "it must be system, department:<id> or agent:<id>")
  .describe("Who is given its tools.")

const pluginEntry = z.strictObject({
  path: name.describe("The file, seen from this one, or the name of an installed package."),
  layer: layer.optional(),
  config: z.record(z.string(), z.unknown()).optional().describe("What the plugin is given when it starts."),
})

export const pluginsSchema = z.array(z.union([name, pluginEntry]))

/** A list of files, or a name for each with what the module is given. */
export const modulesSchema = z.union([
  z.array(z.union([name, pluginEntry])),
  z.record(name, z.record(z.string(), z.unknown())),
])

export const experimentsSchema = z.record(
  name,
  z.strictObject({
    tool: name.describe("The tool that is tried in two versions."),
    versions: z.tuple([name, name]).describe("The two versions."),
    share: z.number().gt(0).lt(1).optional().describe("The share of agents that get the second one; 0.5 if left out."),
  }),
)

/** Keys of `tools` that say what the built-in tools may touch. */
export const toolKeys = {
  workspaceDir: name.optional().describe("The same as workspace."),
  allowedPaths: names
    .optional()
    .describe("Folders the file tools may use without asking; one outside the workspace is opened by it."),
  protectedPaths: names.optional().describe("Patterns of paths no tool may write."),
  maxFileSize: z.int().min(1).optional().describe("The largest file that is read whole, edited or written, in bytes."),
  allowedExtensions: z
    .array(z.string().regex(/^\.?[^./\\]+$/, "it must be an extension such as .md"))
    .optional()
    .describe("The only kinds of file the file tools use; every kind when left out."),
  shell: z
    .strictObject({
      mode: z
        .enum(["ask", "allowlist", "denylist"])
        .optional()
        .describe(
          "ask: what is not allowed asks; allowlist: it is denied; denylist: what is not denied runs if proved.",
        ),
      allow: names.optional().describe("Programs, with leading words if wished, that run without asking."),
      deny: names.optional().describe("Programs that never run."),
      sandbox: z
        .enum(["auto", "required", "off"])
        .optional()
        .describe("auto uses bubblewrap where it works, required refuses without it."),
      timeout: z.int().min(1).max(600_000).optional().describe("Milliseconds a command may take."),
      limits: z
        .strictObject({
          memoryMb: megabytes.optional().describe("Memory of all its processes together."),
          fileMb: megabytes.optional().describe("The largest file it may write."),
          processes: z.int().min(1).optional().describe("Processes at once; 16 threads of one count as one."),
          tmpMb: megabytes.optional().describe("What fits into /tmp and the home folder of the sandbox, each."),
        })
        .optional()
        .describe("What one command may use up before it is ended; in megabytes, but for processes."),
    })
    .optional()
    .describe("Which commands run, ask or are denied."),
  trash: z
    .strictObject({
      days: z.int().min(1).optional().describe("Days until it is removed for good."),
      maxMb: megabytes.optional().describe("Megabytes of all together; the oldest go first."),
    })
    .optional()
    .describe("How long what agents deleted, or was taken away from commands, can be brought back."),
  hosts: z
    .strictObject({
      allow: names.optional().describe("Hosts that are reached without asking, for example *.docs.example."),
      deny: names.optional().describe("Hosts that are never reached."),
    })
    .optional()
    .describe("Which hosts the network tools may reach."),
  webSearch: z
    .strictObject({
      provider: z.enum(["tavily", "google", "bing", "duckduckgo"]).optional().describe("Who is asked."),
      apiKey: z.string().optional().describe("The key, best read from a variable."),
      maxResults: z.int().min(1).max(50).optional().describe("How many results it returns when nobody says how many."),
      engineId: name.optional().describe("For google: the id of the search engine."),
      baseUrl: z
        .url({ protocol: /^https?$/, error: "it must be an address that begins with http:// or https://" })
        .optional()
        .describe("Another address that speaks the provider's protocol."),
    })
    .optional()
    .describe("Which search engine web_search asks."),
}
