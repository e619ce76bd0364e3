import type { CliCommand } from "../../common/cli-command.ts"
import { resolve } from "node:path"
import type { PluginState } from "../../../../registry/plugins/plugin.ts"
import type { Layer } from "../../../../core/tool.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { showFields, showList } from "../../common/listing.ts"
import { printResult, printMessage } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { formatTime } from "../../common/time-text.ts"
import { CannotDo, orCannotDo, listCommand, noSuch, UsageError } from "../../common/usage.ts"

export function addPlugins(program: CliCommand, run: Run): void {
  const plugins = program
    .command("plugins")

    .description("list, load and unload plugins and modules")
  listCommand(plugins, "plugins and modules").example("qm plugins list").allowInTool().action(run(listPlugins))
  plugins
    .command("show <name>")
    .example("qm plugins show word-count")
    .allowInTool()
    .description("show one plugin with its tools and hash")
    .action(run(showPlugin))
  plugins
    .command("load <plugin>")
    .example("qm plugins load plugins/word-count.cjs")
    .description("load an unloaded plugin by name, or try a plugin file by path (this runs the file)")
    .option(
      "--layer <layer>",
      "who gets the tools of a tried plugin: system (everybody), department:<id> or agent:<id>; the layer nearest to an agent wins",
      "system",
    )
    .action(run(loadPlugin))
  plugins
    .command("unload <name>")
    .example("qm plugins unload word-count")
    .description("unload a plugin in every process until 'qm plugins load'")
    .action(run(unloadPlugin))
}

function listPlugins(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ plugins }) => {
    await showList<PluginState>(
      context,
      plugins.list(),
      [
        { title: "NAME", of: ({ name }) => name, paint: "bold" },
        {
          title: "STATE",
          of: ({ state }) => state,
          paint: (paint, cell) => paint[colours[cell.trim()] ?? "yellow"](cell),
        },
        { title: "KIND", of: ({ kind }) => kind },
        { title: "VERSION", of: ({ version }) => version },
        { title: "LAYER", of: ({ layer }) => layer },
        { title: "TOOLS", of: ({ tools }) => tools.length },
        { title: "SHA-256", of: ({ digest }) => digest?.sha256.slice(0, 12), paint: "dim" },
        { title: "PATH", of: ({ path, given }) => path ?? given, paint: "dim" },
        { title: "PROBLEM", of: ({ problem }) => problem },
      ],
      "There is no plugin yet. Add one under plugins in the configuration; 'qm plugins load <path>' tries it first.",
      { whole: true },
    )
    return 0
  })
}

const colours: Readonly<Record<string, "green" | "red" | "dim">> = { loaded: "green", failed: "red", off: "dim" }

function showPlugin(context: CliContext, name: string): Promise<number> {
  return withApp(context, { readOnly: true }, ({ plugins }) => {
    const list = plugins.list()
    const found = list.find((one) => one.name === name)
    if (found === undefined) throw noSuch("plugin", name, namesOf(list))
    show(context, found)
    return found.state === "failed" ? 1 : 0
  })
}

/** Loads an unloaded plugin by name. Anything else is a path: the plugin is loaded and shown for this command only. */
function loadPlugin(context: CliContext, given: string, { layer }: { layer: string }): Promise<number> {
  return withPerson(context, async ({ plugins }, by) => {
    const list = plugins.list()
    const on = await orCannotDo(plugins.switchOn(given, by.id))
    if (on !== undefined) {
      printResult(context, on, `${given} is loaded again: ${on.state === "loaded" ? toolsText(on) : on.problem}`)
      return on.state === "loaded" ? 0 : 1
    }
    const path = /^\.{0,2}[\\/]|\.[cm]?[jt]s$/.test(given) ? resolve(context.io.cwd, given) : given
    const same = list.find((one) => one.state === "loaded" && (one.name === given || one.path === path))
    if (same !== undefined) throw new CannotDo("already_loaded", `The plugin '${same.name}' is already loaded.`)
    const tried = await orCannotDo(plugins.load({ path, layer: layerOf(layer) }))
    show(context, tried)
    const entry = `plugins: [{ path: ${JSON.stringify(path)}${layer === "system" ? "" : `, layer: ${JSON.stringify(layer)}`} }]`
    printMessage(context, `It loads. This was only a try; to use it, add this to the configuration: ${entry}`)
    return 0
  })
}

function unloadPlugin(context: CliContext, name: string): Promise<number> {
  return withPerson(context, async ({ plugins }, by) => {
    const off = await orCannotDo(plugins.switchOff(name, by.id))
    if (off === undefined) throw noSuch("plugin", name, namesOf(plugins.list()))
    printResult(
      context,
      off,
      `${name} is unloaded in every process, also after a restart. 'qm plugins load ${name}' loads it again.`,
    )
    return 0
  })
}

function show(context: CliContext, state: PluginState): void {
  const { name, kind, version, path, given, layer, digest, loadedAt, problem } = state
  const covered = digest?.covers === "folder" ? `all files of the folder: ${digest.files}` : "the file alone"
  showFields(context, state, [
    ["name", name],
    ["state", state.state],
    ["problem", problem],
    ["kind", kind],
    ["version", version],
    ["path", path ?? given],
    ["layer", layer],
    ["group", state.group],
    ["tools", state.tools.join("\n")],
    ["sha-256", digest === undefined ? undefined : `${digest.sha256} (${covered})`],
    ["loaded", loadedAt === undefined ? undefined : formatTime(loadedAt)],
  ])
}

function toolsText({ tools }: PluginState): string {
  return `${tools.length} ${tools.length === 1 ? "tool" : "tools"}.`
}

function namesOf(list: readonly PluginState[]): string[] {
  return list.map(({ name }) => name)
}

function layerOf(text: string): Layer {
  if (/^(system|department:.+|agent:.+)$/.test(text)) return text as Layer
  throw new UsageError(`--layer takes system, department:<id> or agent:<id>, and '${text}' is none of them.`)
}
