import type { LanguageModel } from "./port.ts"

/** The settings an adapter needs to talk to the server of a model. */
export interface ProviderSettings {
  /** The model's name in the configuration. */
  name: string
  modelId: string
  baseUrl: string | undefined
  /**
   * Reads the key when the model is used. Throws a ModelError if its variable is not set; one that may be left out is
   * empty then.
   */
  key(): { variable: string; value: string } | undefined
}

/** Makes the `stream` of a model. Nothing is loaded before it is used. */
export type Adapter = (settings: ProviderSettings) => LanguageModel["stream"]
