import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { PluginState } from "../../../../registry/plugins/plugin.ts"
import { mcpName, type McpServerState } from "../../../../core/mcp.ts"

/** Why there may be no tool of this name: its server does not run, or its plugin was not loaded. */
export function missingToolSentences({ mcp, plugins }: Pick<Quartermaster, "mcp" | "plugins">, tool: string): string[] {
  const found = [deadServerSentence(tool, mcp.list()), deadPluginSentence(plugins.list())]
  return found.filter((sentence) => sentence !== undefined)
}

/** Why a tool may be missing or fail: its MCP server does not run. A name without a server may belong to any of them. */
export function deadServerSentence(tool: string, servers: readonly McpServerState[]): string | undefined {
  const named = servers.filter(({ name }) => isOf(tool, name))
  const dead = (named.length > 0 ? named : servers).find(
    ({ state, problem }) => problem !== undefined && state !== "connected" && state !== "disabled",
  )
  if (dead === undefined) return undefined
  const maybe = named.length > 0 ? "" : "It may be a tool of a server that does not run. "
  return `${maybe}${shortProblem(dead)} 'qm check' tries the server again and shows its output.`
}

/** Returns a sentence on the plugins that were not loaded, so that a tool may be missing because of them. */
function deadPluginSentence(plugins: readonly PluginState[]): string | undefined {
  const [first, ...others] = plugins.filter(({ state }) => state === "failed")
  if (first === undefined) return undefined
  const more = others.length === 0 ? "" : ` Also not loaded: ${others.map(({ name }) => name).join(", ")}.`
  const { name, problem = "it failed." } = first
  const what = problem.includes(name) ? problem : `${name}: ${problem}`
  return `It may be a tool of a plugin that was not loaded. ${what.replace(/\.?$/, ".")}${more} 'qm plugins list' shows all.`
}

/** Reports whether the name of a tool begins with the server's, as people or models write it. */
function isOf(tool: string, server: string): boolean {
  return [mcpName(server, ""), `${server}:`, `${server}__`].some((start) => tool.startsWith(start))
}

/** Returns the reason of the server's end, and the line of its output that explains it. */
function shortProblem({ problem = "" }: McpServerState): string {
  const [first = "", ...output] = problem.split("\n")
  const error = output.find((line) => /error|cannot|failed/i.test(line))
  return error === undefined ? first : `${first.replace(/\.$/, "")} (${error.trim().slice(0, 200)}).`
}
