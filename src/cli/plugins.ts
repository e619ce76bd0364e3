import type { Command } from "commander"
import { resolve } from "node:path"
import type { PluginState } from "../model/plugin.ts"
import type { Layer } from "../model/tool.ts"
import type { Run, Session } from "./house.ts"
import { showFields, showList } from "./listing.ts"
import { answer, say } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { clock } from "./since.ts"
import { CannotDo, expected, listCommand, noSuch, UsageError } from "./usage.ts"

export function addPlugins(program: Command, run: Run): void {
  const plugins = program.command("plugins").description("files that bring tools: plugins and modules")
  listCommand(plugins).action(run(listPlugins))
  plugins.command("show <name>").description("one plugin, with its tools and its hash").action(run(showPlugin))
  plugins
    .command("load <plugin>")
    .description("switch a plugin on again by its name, or try one by its path; a path runs the file here and now")
    .option("--layer <layer>", "whom a tried plugin is for: system, department:<id> or agent:<id>", "system")
    .action(run(loadPlugin))
  plugins
    .command("unload <name>")
    .description("take a plugin out of every process until it is switched on again")
    .action(run(unloadPlugin))
}

function listPlugins(session: Session): Promise<number> {
  return withApp(session, {}, async ({ plugins }) => {
    await showList<PluginState>(
      session,
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
      "There is no plugin yet. Name one under plugins in the configuration; 'qm plugins load <path>' tries it first.",
      { whole: true },
    )
    return 0
  })
}

const colours: Readonly<Record<string, "green" | "red" | "dim">> = { loaded: "green", failed: "red", off: "dim" }

function showPlugin(session: Session, name: string): Promise<number> {
  return withApp(session, {}, ({ plugins }) => {
    const list = plugins.list()
    const found = list.find((one) => one.name === name)
    if (found === undefined) throw noSuch("plugin", name, namesOf(list))
    show(session, found)
    return found.state === "failed" ? 1 : 0
  })
}

/** A name that is off is switched on. Anything else is a path: it is tried, shown, and gone when this command ends. */
function loadPlugin(session: Session, given: string, { layer }: { layer: string }): Promise<number> {
  return withPerson(session, async ({ plugins }, by) => {
    const list = plugins.list()
    const on = await expected(plugins.switchOn(given, by.id))
    if (on !== undefined) {
      answer(session, on, `${given} is switched on again: ${on.state === "loaded" ? toolsText(on) : on.problem}`)
      return on.state === "loaded" ? 0 : 1
    }
    const path = /^\.{0,2}[\\/]|\.[cm]?[jt]s$/.test(given) ? resolve(session.io.cwd, given) : given
    const same = list.find((one) => one.state === "loaded" && (one.name === given || one.path === path))
    if (same !== undefined) throw new CannotDo("already_loaded", `The plugin '${same.name}' is loaded already.`)
    const tried = await expected(plugins.load({ path, layer: layerOf(layer) }))
    show(session, tried)
    const entry = `plugins: [{ path: ${JSON.stringify(path)}${layer === "system" ? "" : `, layer: ${JSON.stringify(layer)}`} }]`
    say(session, `It loads. It was only tried here; to have it always, write in the configuration: ${entry}`)
    return 0
  })
}

function unloadPlugin(session: Session, name: string): Promise<number> {
  return withPerson(session, async ({ plugins }, by) => {
    const off = await expected(plugins.switchOff(name, by.id))
    if (off === undefined) throw noSuch("plugin", name, namesOf(plugins.list()))
    answer(
      session,
      off,
      `${name} is off, in every process and after every start. 'qm plugins load ${name}' switches it on again.`,
    )
    return 0
  })
}

function show(session: Session, state: PluginState): void {
  const { name, kind, version, path, given, layer, digest, loadedAt, problem } = state
  const covered = digest?.covers === "folder" ? `all files of the folder: ${digest.files}` : "the file alone"
  showFields(session, state, [
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
    ["loaded", loadedAt === undefined ? undefined : clock(loadedAt)],
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
