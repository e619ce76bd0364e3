import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Files } from "../platform/files/file-access.ts"
import type { Language } from "../core/language.ts"
import type { ModuleRuntime } from "../platform/module-runtime.ts"

/** The modules that come with Quartermaster, by name. Nothing of one is loaded until the configuration names it. */
export const builtinModules: Readonly<Record<string, () => Promise<unknown>>> = {
  chrome: async () => (await import("../modules/chrome/chrome-module.ts")).chromeModule(),
}

interface RuntimeParts {
  readonly language: Language
  readonly longLived: boolean
  readonly connect: ModuleRuntime["hosts"]["connect"]
  readonly files: Files
  readonly dataDir: string
  mask(secret: string): void
}

const mostSecrets = 3000

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1)
}

/** Makes the argument of `init` for plugins and modules. Each has its own data folder, made when first asked for. */
export function moduleRuntimes({ language, longLived, connect, files, dataDir, mask }: RuntimeParts) {
  const masked = new Set<string>()
  return (plugin: string): Omit<ModuleRuntime, "log" | "toolGroupManager"> => ({
    language,
    longLived,
    hosts: { connect },
    files: ({ allowedPaths, mayRead }) => files.within(allowedPaths, mayRead),
    get dataFolder() {
      const folder = join(dataDir, "modules", plugin)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      return folder
    },
    mask(secret) {
      // As it is, and as an address or a form that was sent has it.
      for (const form of new Set([secret, encodeURIComponent(secret), formEncoded(secret)])) {
        if (form.length < 4 || masked.has(form) || masked.size >= mostSecrets) continue
        masked.add(form)
        mask(form)
      }
    },
  })
}
