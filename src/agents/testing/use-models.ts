import type { LanguageModel, ModelRequest } from "../models/port.ts"
import { openModels, type ModelSettings } from "../models/open-models.ts"

/** A model of these settings, and a key for `${KEY}`. */
export function modelOf(
  settings: ModelSettings,
  environment: Record<string, string> = { KEY: "sk-secret-1234" },
): LanguageModel {
  return openModels({ settings: { m: { model: "test", ...settings } }, default: "m", environment }).get()
}

/** A question with a tool. */
export const question: ModelRequest = {
  messages: [
    { role: "system", content: "You help." },
    { role: "user", content: "What is in a.txt?" },
  ],
  tools: [
    {
      name: "read_file",
      description: "Read a file.",
      inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    },
  ],
}

/** A wait that takes no time. */
export const noWait = (): Promise<void> => Promise.resolve()
