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
  .describe("Who gets its tools: system (everyone), department:<id> or agent:<id>.")

const pluginEntry = z.strictObject({
  path: name.describe("The plugin's file, relative to this file, or the name of an installed package."),
  layer: layer.optional(),
  config: z.record(z.string(), z.unknown()).optional().describe("Settings passed to the plugin."),
})

export const pluginsSchema = z.array(z.union([name, pluginEntry]))

/** A list of files, or files with the settings of each. */
export const modulesSchema = z.union([
  z.array(z.union([name, pluginEntry])),
  z.record(name, z.record(z.string(), z.unknown())),
])

export const experimentsSchema = z.record(
  name,
  z.strictObject({
    tool: name.describe("The tool."),
    versions: z.tuple([name, name]).describe("The two versions to compare."),
    share: z.number().gt(0).lt(1).optional().describe("Share of agents that get the second version (default: 0.5)."),
  }),
)

/** Keys of `tools` that limit what the built-in tools may do. */
export const toolKeys = {
  workspaceDir: name.optional().describe("The same as workspace."),
  allowedPaths: names
    .optional()
    .describe(
      "The only folders that file tools and commands may use, also outside the workspace (default: the workspace).",
    ),
  protectedPaths: names.optional().describe("Patterns of paths that no tool may write."),
  maxFileSize: z.int().min(1).optional().describe("The largest file that tools read whole, edit or write, in bytes."),
  allowedExtensions: z
    .array(z.string().regex(/^\.?[^./\\]+$/, "it must be an extension such as .md"))
    .optional()
    .describe("File extensions the file tools may use (default: all)."),
  shell: z
    .strictObject({
      mode: z
        .enum(["ask", "allowlist", "denylist", "sandbox"])
        .optional()
        .describe(
          "For commands not listed in allow or deny. ask: a person is asked; allowlist: denied; denylist: run if proved harmless; sandbox: run in bubblewrap, and only what visibly deletes or overwrites asks.",
        ),
      allow: names
        .optional()
        .describe("Commands that run without approval: a program, optionally with its first arguments."),
      deny: names.optional().describe("Programs that never run."),
      sandbox: z
        .enum(["auto", "required", "off"])
        .optional()
        .describe("auto: use bubblewrap if it works; required: refuse commands without it; off: do not use it."),
      timeout: z.int().min(1).max(600_000).optional().describe("Time limit of a command in milliseconds."),
      limits: z
        .strictObject({
          memoryMb: megabytes.optional().describe("Memory of all processes of a command together."),
          fileMb: megabytes.optional().describe("The largest file a command may write."),
          processes: z.int().min(1).optional().describe("Processes at once; 16 threads of a process count as one."),
          tmpMb: megabytes.optional().describe("Size of /tmp and of the home folder in the sandbox, each."),
        })
        .optional()
        .describe("Limits of one command, in megabytes except processes; a command that exceeds them is ended."),
    })
    .optional()
    .describe("Which commands run, need approval or are denied."),
  trash: z
    .strictObject({
      days: z.int().min(1).optional().describe("Days until a deleted file is removed permanently."),
      maxMb: megabytes.optional().describe("Total size in megabytes; the oldest files are removed first."),
    })
    .optional()
    .describe("How long files deleted by agents can be restored."),
  hosts: z
    .strictObject({
      allow: names.optional().describe("Hosts that need no approval, for example *.docs.example."),
      deny: names.optional().describe("Hosts that are always denied."),
    })
    .optional()
    .describe(
      "Which hosts the network tools reach unasked, and which never. For every other host a person is asked; a rule that denies them makes the list complete.",
    ),
  webSearch: z
    .strictObject({
      provider: z.enum(["tavily", "google", "bing", "duckduckgo"]).optional().describe("The search service."),
      apiKey: z.string().optional().describe("The API key, best read from an environment variable."),
      maxResults: z.int().min(1).max(50).optional().describe("The default number of results."),
      engineId: name.optional().describe("For google: the id of the search engine."),
      baseUrl: z
        .url({ protocol: /^https?$/, error: "it must be a URL that begins with http:// or https://" })
        .optional()
        .describe("Another URL with the provider's API."),
    })
    .optional()
    .describe("The search service that web_search uses."),
}
