import { readTouchPattern } from "../schema/rule-patterns.ts"

/** The tool and touches of an imported rule. */
export interface ClaudeToolRule {
  tool: string
  touching?: string[]
  /** Tools of ours that do the same, which the rule must cover too so that it cannot be got around. */
  also?: string[]
}

/** Interpolated when the configuration is read. */
const home = "${HOME}"

/** Our tools by the names Claude uses. */
const tools: Readonly<Record<string, string>> = {
  Bash: "run_command",
  BashOutput: "command_output",
  KillBash: "command_stop",
  KillShell: "command_stop",
  Read: "read_file",
  Write: "write_file",
  Edit: "edit_file",
  MultiEdit: "edit_file",
  LS: "list_files",
  Glob: "find_files",
  Grep: "search_files",
  NotebookRead: "read_notebook",
  NotebookEdit: "edit_notebook",
  WebFetch: "web_fetch",
  WebSearch: "web_search",
  TodoWrite: "todo_write",
  AskUserQuestion: "ask_user",
}

/**
 * Converts a permission for one of Claude's tools into a rule, or returns why that is not possible. Rules that deny or
 * ask about files or hosts apply to every tool, so that a command cannot get around them.
 */
export function claudeToolRule(verdict: "allow" | "ask" | "deny", written: string): ClaudeToolRule | string {
  const [, name = "", argument] = /^([A-Za-z]+)(?:\((.*)\))?$/s.exec(written) ?? []
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
  if (tool === undefined) return "it is for a tool that only that program has; the program keeps deciding about it."
  if (argument === undefined || argument === "*" || argument === "**") {
    return verdict !== "allow" && tool === "web_fetch" ? { tool, also: ["http_get", "http_request"] } : { tool }
  }
  const rule = withArgument(tool, argument, verdict)
  if (rule === undefined) return "it is about arguments. Write a rule with 'args' for it."
  const loosens = verdict === "allow"
  const mistake = rule.touching
    ?.map((pattern) => readTouchPattern(pattern.replace(home, "/home"), loosens))
    .find((read) => "mistake" in read)
  return mistake === undefined ? rule : `its pattern ${(mistake as { mistake: string }).mistake}.`
}

function withArgument(tool: string, argument: string, verdict: string): ClaudeToolRule | undefined {
  if (tool === "run_command") return { tool, touching: commands(argument) }
  if (tool === "web_fetch" && argument.startsWith("domain:")) {
    return { tool: verdict === "allow" ? tool : "*", touching: [`host:${argument.slice("domain:".length)}`] }
  }
  const use = fileUse[tool]
  if (use === undefined) return undefined
  const touching = paths(argument, verdict).map((path) => `${use}:${path}`)
  return { tool: verdict === "allow" ? "group:workspace" : "*", touching }
}

const fileUse: Readonly<Record<string, "read" | "write">> = {
  read_file: "read",
  list_files: "read",
  find_files: "read",
  search_files: "read",
  read_notebook: "read",
  write_file: "write",
  edit_file: "write",
  edit_notebook: "write",
}

/** `npm test:*` and `npm test *` also match without arguments; `ls*` matches every word that begins with ls. */
function commands(argument: string): string[] {
  const [, words] = /^(.*?)(?::\*| \*)$/s.exec(argument) ?? []
  return words === undefined ? [`command:${argument}`] : [`command:${words}`, `command:${words} *`]
}

/**
 * `//` is the file system root, `~` the home folder, anything else the workspace. A bare path that denies applies in
 * every folder.
 */
function paths(argument: string, verdict: string): string[] {
  if (argument.startsWith("//")) return [argument.slice(1)]
  if (argument.startsWith("~/")) return [`${home}/${argument.slice(2)}`]
  if (argument.startsWith("/")) return [argument.slice(1)]
  if (argument.startsWith("./")) return [argument.slice(2)]
  return verdict === "allow" || argument.startsWith("**/") ? [argument] : [argument, `**/${argument}`]
}

/** Reports whether an allow rule for these files can never hold, because file tools stay in the workspace. */
export function isOutside(touching: readonly string[] | undefined, place: { folder: string; home: string }): boolean {
  const outside = (pattern: string) => {
    const path = /^(?:read|write):(.*)$/s.exec(pattern)?.[1]?.replace(home, place.home)
    if (path === undefined || !path.startsWith("/")) return false
    const certain = path.replace(/[*?[{].*$/s, "")
    return !`${path}/`.startsWith(`${place.folder}/`) && (certain === path || !place.folder.startsWith(certain))
  }
  return touching?.every(outside) ?? false
}
