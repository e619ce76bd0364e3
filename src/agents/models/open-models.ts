import { basename } from "node:path"
import { needsVariables } from "../../core/unset-variables.ts"
import { anthropic } from "./anthropic.ts"
import { google } from "./google.ts"
import { ModelError } from "./model-error.ts"
import { openAICompatible } from "./openai-compatible.ts"
import type { LanguageModel, ModelPrice } from "./port.ts"
import type { Adapter } from "./provider.ts"
import { scripted } from "./scripted.ts"

/** The entry of a model in the configuration. */
export interface ModelSettings {
  provider?: "openai-compatible" | "anthropic" | "google" | "scripted"
  model?: string
  baseUrl?: string
  /** `${NAME}`, as it is written. */
  apiKey?: string
  script?: string
  contextTokens?: number
  maxOutputTokens?: number
  price?: ModelPrice
  streamTools?: boolean
  images?: boolean
  timeout?: number
  firstByteTimeout?: number
}

type Environment = Readonly<Record<string, string | undefined>>

export interface ModelsOptions {
  settings: Readonly<Record<string, ModelSettings>>
  /** The name of the default model. */
  default: string | undefined
  environment: Environment
  /** Models that the program brings itself, by name. */
  own?: Readonly<Record<string, LanguageModel>>
  /** Models that cannot be used because variables of their settings are not set. */
  unset?: Readonly<Record<string, readonly string[]>>
}

export interface ListedModel {
  name: string
  provider: string
  model: string
  isDefault: boolean
  contextTokens?: number
  /** The variable of the key and whether it is set; undefined if the model has none. */
  key?: { variable: string; isSet: boolean; isOptional: boolean }
}

/** The configured models. */
export interface Models {
  /**
   * The model of that name, or the default one. A role's `llmServiceId` is such a name; null means the default. Throws
   * a ModelError if there is none. Packages, keys and scripts are read when the model is first asked.
   */
  get(name?: string | null): LanguageModel
  list(): ListedModel[]
}

export function openModels({ settings, default: chosen, environment, own = {}, unset = {} }: ModelsOptions): Models {
  const opened = new Map<string, LanguageModel>(Object.entries(own))
  const names = [...new Set([...Object.keys(settings), ...Object.keys(own)])]
  const defaultName = chosen ?? (names.length === 1 ? names[0] : undefined)
  return {
    get(given) {
      const name = given ?? defaultName
      const known = name === undefined ? undefined : opened.get(name)
      if (known !== undefined) return known
      if (name !== undefined && Object.hasOwn(unset, name))
        throw new ModelError(
          "missing_key",
          `The model '${name}' ${needsVariables(unset[name]!)}. Set it, then try again.`,
        )
      if (name === undefined || !Object.hasOwn(settings, name)) throw unknownModel(name, names)
      const model = openModel(name, settings[name]!, environment)
      opened.set(name, model)
      return model
    },
    list: () =>
      names.map((name) => {
        const brought = own[name]
        const { provider, modelId, contextTokens } = brought ?? describe(settings[name]!)
        const key = brought === undefined ? keyOf(settings[name]!, environment) : undefined
        return { name, provider, model: modelId, isDefault: name === defaultName, contextTokens, ...(key && { key }) }
      }),
  }
}

/** The environment variables that hold keys of models. Tools get neither these nor their values. */
export function keyVariables(settings: Readonly<Record<string, ModelSettings>>): string[] {
  return Object.values(settings).flatMap(({ apiKey }) => readReference(apiKey)?.variable ?? [])
}

function openModel(name: string, settings: ModelSettings, environment: Environment): LanguageModel {
  const { price, streamTools, contextTokens, maxOutputTokens, timeout, firstByteTimeout, baseUrl, script } = settings
  const { provider, modelId } = describe(settings)
  // A server with OpenAI's protocol often has a model for text only and refuses images.
  const { images = provider === "anthropic" || provider === "google" } = settings
  const key = () => requireKey(name, settings, environment)
  const stream = provider === "scripted" ? scripted(script ?? "") : adapters[provider]({ name, modelId, baseUrl, key })
  return {
    name,
    provider,
    modelId,
    contextTokens,
    price,
    streamTools,
    seesImages: images,
    limits: { turnMs: timeout, firstByteMs: firstByteTimeout },
    stream: (request, options) =>
      stream({ ...request, maxOutputTokens: request.maxOutputTokens ?? maxOutputTokens }, options),
  }
}

const adapters: Readonly<Record<"openai-compatible" | "anthropic" | "google", Adapter>> = {
  "openai-compatible": openAICompatible,
  anthropic,
  google,
}

function describe({ provider = "openai-compatible", model, script, contextTokens }: ModelSettings) {
  return { provider, modelId: model ?? basename(script ?? ""), contextTokens }
}

/** Reads `${NAME}`; `${NAME:-}` is a key that may be left out. */
function readReference(
  apiKey: string | undefined,
): { variable: string; isOptional: boolean; message: string } | undefined {
  const [, variable, kind, message = ""] = /^\$\{(\w+)(?:(:-|:\?)([^}]*))?\}$/.exec(apiKey ?? "") ?? []
  return variable === undefined ? undefined : { variable, isOptional: kind === ":-", message }
}

function keyOf({ apiKey }: ModelSettings, environment: Environment): ListedModel["key"] {
  const { variable, isOptional = false } = readReference(apiKey) ?? {}
  return variable === undefined ? undefined : { variable, isSet: readKey(variable, environment) !== "", isOptional }
}

/** Files with variables often end lines with a carriage return or a space, which no key has. */
function readKey(variable: string, environment: Environment): string {
  return environment[variable]?.trim() ?? ""
}

function requireKey(
  name: string,
  { apiKey }: ModelSettings,
  environment: Environment,
): { variable: string; value: string } | undefined {
  const reference = readReference(apiKey)
  if (reference === undefined) return undefined
  const { variable, isOptional, message } = reference
  const value = readKey(variable, environment)
  if (value !== "" || isOptional) return { variable, value }
  const help = message || `Set it, then try again.`
  throw new ModelError(
    "missing_key",
    `The model '${name}' needs the environment variable ${variable}, which is not set. ${help}`,
  )
}

function unknownModel(name: string | undefined, names: readonly string[]): ModelError {
  if (names.length === 0) {
    return new ModelError(
      "unknown_model",
      `${name === undefined ? "No model is configured" : `There is no model '${name}'`}. Add one to 'models' in quartermaster.yml, for example: models: { local: { provider: openai-compatible, baseUrl: "http://127.0.0.1:11434/v1", model: qwen3 } }`,
    )
  }
  if (name === undefined)
    return new ModelError(
      "unknown_model",
      `No default model is set. Set 'models.default' to one of: ${names.join(", ")}.`,
    )
  const known = names.map((one) => `'${one}'`).join(", ")
  return new ModelError("unknown_model", `There is no model '${name}'. Use one of: ${known}.`)
}
