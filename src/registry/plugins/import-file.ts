import { createRequire, register } from "node:module"
import { dirname, sep } from "node:path"
import { pathToFileURL } from "node:url"

/** The runtime's `import`. */
export type Import = (address: string) => Promise<unknown>

/** The hash of each imported file, and how often its content has changed. */
const imported = new Map<string, { sha256: string; times: number }>()

/**
 * Imports a file, ESM or CommonJS. The runtime caches modules forever, so a file whose content has changed is imported under
 * another URL, and so are the files that it imports from its own folder.
 */
export async function importFile(file: string, sha256: string, load: Import = ownImport): Promise<unknown> {
  const before = imported.get(file)
  const times = before === undefined ? 0 : before.sha256 === sha256 ? before.times : before.times + 1
  imported.set(file, { sha256, times })
  const address = pathToFileURL(file)
  if (times > 0) {
    forgetCommonJs(dirname(file))
    passQueriesOn()
    address.searchParams.set("again", String(times))
  }
  return load(address.href)
}

/** The build replaces this line, because a bundle would turn `import` into `require`. */
function ownImport(address: string): Promise<unknown> {
  return import(address)
}

function forgetCommonJs(folder: string): void {
  const { cache } = createRequire(pathToFileURL(`${folder}${sep}`))
  for (const file of Object.keys(cache)) {
    if (file.startsWith(folder + sep) && !file.includes(`${sep}node_modules${sep}`)) delete cache[file]
  }
}

let passesOn = false

function passQueriesOn(): void {
  if (!passesOn) register(`data:text/javascript,${encodeURIComponent(hook)}`)
  passesOn = true
}

/** Runs in the thread of the runtime's module hooks. */
const hook = `
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context)
  const again = /[?&]again=(\\d+)/.exec(context.parentURL ?? "")
  const isOwn = specifier.startsWith("./") || specifier.startsWith("../")
  if (again === null || !isOwn || found.url.includes("/node_modules/")) return found
  const url = new URL(found.url)
  if (url.protocol === "file:") url.searchParams.set("again", again[1])
  return { ...found, url: url.href }
}
`
