import { z } from "zod"
import { resolve } from "node:path"
import { parseUrl } from "../lib/url.ts"

const text = z.string().min(1)
const count = z.int().min(1)
const money = z.number().min(0)
const milliseconds = z
  .int()
  .max(3_600_000)
  .refine((value) => value >= 100, {
    error: "it is in milliseconds and at least 100; three seconds are 3000",
  })
  .meta({ minimum: 100 })

const price = z.strictObject({
  input: money.describe("US dollars per million input tokens."),
  output: money.describe("US dollars per million output tokens."),
  cachedInput: money.optional().describe("US dollars per million input tokens that the provider had cached."),
  cacheWrite: money.optional().describe("US dollars per million input tokens that the provider wrote into its cache."),
})

const entry = z.strictObject({
  provider: z
    .enum(["openai-compatible", "anthropic", "google", "scripted"])
    .optional()
    .describe("What the model's server speaks; scripted plays a file instead."),
  model: text.optional().describe("The provider's name of the model."),
  baseUrl: z
    .url({ protocol: /^https?$/, error: "it must be a URL that begins with http:// or https://" })
    .refine((url) => !hasPassword(url), {
      error: "it must have no user and password, because messages show addresses; write a key as apiKey: ${NAME}",
    })
    .optional()
    .describe("Address of the server; needed for openai-compatible."),
  apiKey: z
    .string()
    .regex(/^\$\{[A-Za-z_]\w*(:-|:\?[^}]*)?\}$/, {
      error:
        "keys come from the environment only, so it must be a variable such as ${MODEL_KEY}, or ${MODEL_KEY:-} if the server may need none",
    })
    .optional()
    .describe("The variable with the key, written as ${NAME}; never the key itself."),
  contextTokens: count.optional().describe("How many tokens a request and its answer may have together."),
  maxOutputTokens: count.optional().describe("How many tokens an answer may have."),
  price: price.optional().describe("US dollars per million tokens, to count costs."),
  streamTools: z
    .boolean()
    .optional()
    .describe("false makes requests with tools without streaming, for servers that lose streamed calls."),
  images: z
    .boolean()
    .optional()
    .describe("Whether the model is shown the images in results; by default with anthropic and google."),
  timeout: milliseconds.optional().describe("Time limit of an answer with its retries in milliseconds."),
  firstByteTimeout: milliseconds.optional().describe("Time limit until a streamed answer begins, in milliseconds."),
  script: text.optional().describe("The file that a scripted model plays, relative to this file."),
})

function hasPassword(address: string): boolean {
  const url = parseUrl(address)
  return url !== undefined && url.username + url.password !== ""
}

type Entry = z.infer<typeof entry>

/** Models by name, and beside them the name of the default one. */
export interface ModelsSection {
  default?: string
  [name: string]: Entry | string | undefined
}

// TypeScript cannot say that every key but `default` is a model, so the type is given.
export const modelsSchema = z
  .object({ default: text.optional().describe("The model of roles that name none with llmServiceId.") })
  .catchall(entry.describe("A model by the name that roles and commands use.")) as unknown as z.ZodType<ModelsSection>

/** The models of the section by name, without the default. */
export function modelEntries(section: ModelsSection = {}): Record<string, Entry> {
  const { default: _, ...entries } = section
  return entries as Record<string, Entry>
}

/** Resolves the script files relative to `folder`. */
export function resolveScripts(folder: string, section: ModelsSection): ModelsSection {
  const entries = Object.entries(modelEntries(section)).map(([name, given]) => [
    name,
    given.script === undefined ? given : { ...given, script: resolve(folder, given.script) },
  ])
  return { ...section, ...Object.fromEntries(entries) } as ModelsSection
}

/** Returns the flaws of the models once all layers are merged. */
export function modelFlaws(section: ModelsSection = {}): { key: string; sentence: string }[] {
  return Object.entries(modelEntries(section)).flatMap(([name, given]) =>
    problemsOf(name, given).map((problem) => ({ key: `models.${name}`, sentence: `'models.${name}' ${problem}` })),
  )
}

function problemsOf(name: string, { provider, model, baseUrl, apiKey, script }: Entry): string[] {
  const found: [string, boolean][] = [
    ["has no provider. Add one of: openai-compatible, anthropic, google, scripted.", provider === undefined],
    ["has no script. Add the file that it plays.", provider === "scripted" && script === undefined],
    [
      "has no model. Add the provider's name of the model.",
      provider !== undefined && provider !== "scripted" && model === undefined,
    ],
    ["has no baseUrl. Add the address of the server.", provider === "openai-compatible" && baseUrl === undefined],
    [
      `has no apiKey. Add: apiKey: "\${${name.replace(/\W/g, "_").toUpperCase()}_API_KEY}".`,
      (provider === "anthropic" || provider === "google") && apiKey === undefined,
    ],
    [
      "has a script, which is for the provider scripted. Remove it.",
      provider !== undefined && provider !== "scripted" && script !== undefined,
    ],
    [
      "plays a script and has a baseUrl or an apiKey, which are for servers. Remove them.",
      provider === "scripted" && (baseUrl !== undefined || apiKey !== undefined),
    ],
  ]
  return found.flatMap(([sentence, holds]) => (holds ? [sentence] : []))
}
