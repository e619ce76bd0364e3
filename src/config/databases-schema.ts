import { resolve } from "node:path"
import { z } from "zod"

const name = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$/
const text = z.string().min(1)

const entry = z.strictObject({
  url: z
    .string()
    // A variable is replaced before this counts; editors see it as it is written.
    .regex(/^(sqlite:(?!:memory:$).|postgres(ql)?:\/\/.|\$\{)/s, {
      error: "it must be sqlite: with the path of a file, or begin with postgres://",
    })
    .describe("sqlite: with a path relative to this file, or postgres://; models never see it."),
  readOnly: z.boolean().optional().describe("true: change_database is refused."),
  roles: z.array(text).optional().describe("The roles whose agents see and use it (default: all)."),
  description: text.optional().describe("What is in it, for models."),
})

export const databasesSchema = z.record(text, entry).superRefine((databases, { addIssue }) => {
  for (const key of Object.keys(databases).filter((one) => !name.test(one)))
    addIssue({
      code: "custom",
      path: [key],
      message: `'${key}' cannot be a database's name, which has at most 48 letters, digits and . _ - and begins with a letter or digit`,
    })
})

export type DatabasesSection = z.infer<typeof databasesSchema>

/** Resolves the files of SQLite relative to `folder`. */
export function resolveDatabaseFiles(folder: string, section: DatabasesSection): DatabasesSection {
  return Object.fromEntries(
    Object.entries(section).map(([key, given]) => [
      key,
      given.url.startsWith("sqlite:") ? { ...given, url: `sqlite:${resolve(folder, given.url.slice(7))}` } : given,
    ]),
  )
}

/** Returns the secrets in servers' addresses: the addresses themselves, and their passwords as written and as meant. */
export function databaseSecrets(section: DatabasesSection = {}): string[] {
  const secrets = Object.values(section)
    .filter(({ url }) => !url.startsWith("sqlite:"))
    .flatMap(({ url }) => {
      const password = /:\/\/[^/?#]*?:(.*)@/s.exec(url)?.[1] ?? ""
      const asked = /[?&]password=([^&#]*)/.exec(url)?.[1] ?? ""
      return [url, password, decoded(password), asked, decoded(asked)]
    })
  // A shorter one would be found in ordinary words.
  return [...new Set(secrets)].filter((secret) => secret.length >= 6).sort((one, other) => other.length - one.length)
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written)
  } catch {
    return written
  }
}
