// The suite imports `globSync` from "fs", which Node 20 does not have, but needs it only for a command that we do not
// use. `node --import` of this file lets it start.
import { register } from "node:module"

const withGlobSync = asModule(`
  export * from "node:fs"
  export { default } from "node:fs"
  export function globSync() { throw new Error("There is no globSync in Node 20.") }`)

register(
  asModule(`
    export function resolve(specifier, context, next) {
      const isSuite = context.parentURL?.endsWith("/conformance/dist/index.js")
      return specifier === "fs" && isSuite ? { url: ${JSON.stringify(withGlobSync)}, shortCircuit: true } : next(specifier, context)
    }`),
)

function asModule(source) {
  return `data:text/javascript,${encodeURIComponent(source)}`
}
