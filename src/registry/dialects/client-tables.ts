import { dropped, intent, kept, type ClientTool, type Fields, type LikeOurs, type OfItsOwn } from "./client-tool.ts"
import { patchDiffs, patchTouches } from "./patch-text.ts"

type Table = Readonly<Record<string, ClientTool>>

/** Describes a tool of an agent by a tool of ours, with the names of its fields. */
function like(tool: string, fields: LikeOurs["fields"], more: Omit<LikeOurs, "like" | "fields"> = {}): LikeOurs {
  return { like: tool, fields, ...more }
}

const command = (fields: LikeOurs["fields"]) =>
  like("run_command", { command: "command", description: intent, ...fields }, { paths: ["cwd"], folder: "cwd" })
const file = (tool: string, fields: LikeOurs["fields"]) => like(tool, fields, { paths: ["path"] })
/** Searches and lists look into the agent's folder where they name none. */
const folder = (tool: string, fields: LikeOurs["fields"]) => like(tool, fields, { paths: ["path"], folder: "path" })
const search = (fields: LikeOurs["fields"]) => folder("search_files", { pattern: "pattern", ...fields })

/** The agent's provider searches, so none of the hosts that our search uses is reached. */
const webSearch = (fields: LikeOurs["fields"]) => like("web_search", fields, { touches: () => [] })

/** Tools that only concern the agent itself and its conversation: no file, command or host. */
const none: OfItsOwn = { effect: "none" }
const withoutEffect = (...names: readonly string[]): Table => Object.fromEntries(names.map((name) => [name, none]))

/** A patch over several files. Rules about edits apply to it, each file is a touch. */
const patch = (field: string): LikeOurs =>
  like(
    "edit_file",
    { [field]: "patch", workdir: "cwd" },
    {
      folder: "cwd",
      problem: (input) => (typeof input["patch"] === "string" ? undefined : `Missing required parameter: ${field}`),
      touches: (input) => patchTouches(String(input["patch"]), cwdOf(input)),
      preview: (input) => ({ kind: "diff", files: patchDiffs(String(input["patch"])) }),
    },
  )

function cwdOf({ cwd }: Fields): string | undefined {
  return typeof cwd === "string" ? cwd : undefined
}

/** Edits of one file, with our names for the parts of each. */
function withEdits(input: Fields): Fields {
  const { edits } = input
  if (!Array.isArray(edits)) return input
  const part = ({ old_string, new_string, replace_all }: Fields) => ({
    oldText: old_string,
    newText: new_string,
    ...(replace_all === undefined ? {} : { replaceAll: replace_all }),
  })
  return { ...input, edits: edits.map((each: unknown) => part((each ?? {}) as Fields)) }
}

const claude: Table = {
  Bash: command({ timeout: dropped, run_in_background: "background" }),
  Read: file("read_file", { file_path: "path", offset: kept, limit: kept, pages: kept }),
  Write: file("write_file", { file_path: "path", content: "content" }),
  Edit: file("edit_file", {
    file_path: "path",
    old_string: "oldText",
    new_string: "newText",
    replace_all: "replaceAll",
  }),
  MultiEdit: like("edit_file", { file_path: "path", edits: "edits" }, { paths: ["path"], more: withEdits }),
  NotebookRead: file("read_notebook", { notebook_path: "path" }),
  NotebookEdit: file("edit_notebook", {
    notebook_path: "path",
    cell_id: "cellId",
    new_source: "source",
    cell_type: "cellType",
    edit_mode: "mode",
  }),
  LS: folder("list_files", { path: "path", ignore: kept }),
  Glob: folder("find_files", { pattern: "pattern", path: "path" }),
  Grep: search({
    path: "path",
    glob: kept,
    type: kept,
    output_mode: kept,
    "-A": kept,
    "-B": kept,
    "-C": kept,
    "-n": kept,
    "-i": kept,
    "-o": kept,
    context: kept,
    head_limit: kept,
    offset: kept,
    multiline: kept,
  }),
  WebFetch: like("web_fetch", { url: "url", prompt: kept }),
  WebSearch: webSearch({ query: "query", allowed_domains: kept, blocked_domains: kept }),
  ...withoutEffect(
    "Agent",
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "KillBash",
    "KillShell",
    "ListAgents",
    "ListMcpResourcesTool",
    "ReportFindings",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
  ),
}

const codex: Table = {
  Bash: command({ workdir: "cwd", timeout_ms: dropped }),
  apply_patch: patch("command"),
  view_image: file("read_file", { path: "path" }),
  ...withoutEffect(
    "close_agent",
    "create_goal",
    "get_goal",
    "list_agents",
    "request_user_input",
    "resume_agent",
    "spawn_agent",
    "update_goal",
    "update_plan",
    "wait_agent",
  ),
}

const gemini: Table = {
  run_shell_command: command({
    dir_path: "cwd",
    directory: "cwd",
    is_background: "background",
    delay_ms: dropped,
    timeout: dropped,
  }),
  read_file: file("read_file", {
    file_path: "path",
    absolute_path: "path",
    start_line: kept,
    end_line: kept,
    offset: kept,
    limit: kept,
    pages: kept,
  }),
  write_file: file("write_file", { file_path: "path", content: "content" }),
  replace: file("edit_file", {
    file_path: "path",
    old_string: "oldText",
    new_string: "newText",
    allow_multiple: "replaceAll",
    instruction: intent,
  }),
  list_directory: folder("list_files", {
    dir_path: "path",
    path: "path",
    ignore: kept,
    file_filtering_options: kept,
  }),
  glob: folder("find_files", {
    pattern: "pattern",
    dir_path: "path",
    path: "path",
    case_sensitive: kept,
    respect_git_ignore: kept,
    respect_gemini_ignore: kept,
  }),
  grep_search: search({
    dir_path: "path",
    path: "path",
    include_pattern: kept,
    exclude_pattern: kept,
    glob: kept,
    limit: kept,
    names_only: kept,
    max_matches_per_file: kept,
    total_max_matches: kept,
    case_sensitive: kept,
    fixed_strings: kept,
    context: kept,
    before: kept,
    after: kept,
    no_ignore: kept,
  }),
  google_web_search: webSearch({ query: "query" }),
  ...withoutEffect(
    "ask_user",
    "codebase_investigator",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "get_internal_docs",
    "invoke_agent",
    "list_background_processes",
    "read_background_output",
    "update_topic",
    "write_todos",
  ),
}

const qwen: Table = {
  ...gemini,
  edit: file("edit_file", {
    file_path: "path",
    old_string: "oldText",
    new_string: "newText",
    replace_all: "replaceAll",
  }),
  web_fetch: like("web_fetch", { url: "url", prompt: kept }),
  ...withoutEffect("agent", "ask_user_question", "task", "todo_write", "tool_search"),
}

const opencode: Table = {
  bash: command({ workdir: "cwd", timeout: dropped }),
  read: file("read_file", { filePath: "path", offset: kept, limit: kept }),
  write: file("write_file", { filePath: "path", content: "content" }),
  edit: file("edit_file", {
    filePath: "path",
    oldString: "oldText",
    newString: "newText",
    replaceAll: "replaceAll",
  }),
  patch: patch("patchText"),
  apply_patch: patch("patchText"),
  list: folder("list_files", { path: "path", ignore: kept }),
  glob: folder("find_files", { pattern: "pattern", path: "path" }),
  grep: search({ path: "path", include: kept }),
  webfetch: like("web_fetch", { url: "url", format: kept, timeout: dropped }),
  ...withoutEffect("invalid", "question", "task", "todoread", "todowrite"),
}

const copilot: Table = {
  bash: command({ timeout: dropped, sessionId: dropped, async: "background", mode: dropped, initial_wait: dropped }),
  view: file("read_file", { path: "path", view_range: kept }),
  create: file("write_file", { path: "path", file_text: "content" }),
  edit: file("edit_file", { path: "path", old_str: "oldText", new_str: "newText" }),
  apply_patch: patch("patch"),
  glob: folder("find_files", { pattern: "pattern", path: "path" }),
  grep: search({
    path: "path",
    glob: kept,
    type: kept,
    output_mode: kept,
    "-A": kept,
    "-B": kept,
    "-C": kept,
    "-n": kept,
    "-i": kept,
    head_limit: kept,
    multiline: kept,
  }),
  web_fetch: like("web_fetch", { url: "url", max_length: kept, raw: kept, start_index: kept }),
  ...withoutEffect("ask_user", "read_bash", "report_intent", "stop_bash", "task", "update_todo"),
}

const cursor: Table = {
  Shell: command({ cwd: "cwd", working_directory: "cwd", timeout: dropped, block_until_ms: dropped }),
  Read: file("read_file", { path: "path", file_path: "path", offset: kept, limit: kept }),
  Write: file("write_file", { path: "path", file_path: "path", contents: "content", content: "content" }),
  StrReplace: file("edit_file", {
    path: "path",
    file_path: "path",
    old_string: "oldText",
    new_string: "newText",
    replace_all: "replaceAll",
  }),
  Delete: file("delete_file", { path: "path", file_path: "path" }),
  LS: folder("list_files", { path: "path", target_directory: "path" }),
  Glob: folder("find_files", { pattern: "pattern", glob_pattern: "pattern", target_directory: "path" }),
  Grep: search({ path: "path", glob: kept, output_mode: kept, "-i": kept, head_limit: kept }),
  WebFetch: like("web_fetch", { url: "url" }),
  WebSearch: webSearch({ query: "query", search_term: "query" }),
  ...withoutEffect("ReadLints", "Task", "TodoWrite"),
}

const vscode: Table = {
  run_in_terminal: command({
    explanation: intent,
    goal: dropped,
    isBackground: "background",
    timeout: dropped,
    mode: dropped,
  }),
  read_file: file("read_file", { filePath: "path", offset: kept, limit: kept, startLine: kept, endLine: kept }),
  create_file: file("write_file", { filePath: "path", content: "content" }),
  replace_string_in_file: file("edit_file", {
    filePath: "path",
    oldString: "oldText",
    newString: "newText",
    explanation: intent,
  }),
  apply_patch: patch("input"),
  list_dir: folder("list_files", { path: "path" }),
  ...withoutEffect("get_errors", "manage_todo_list", "runSubagent"),
}

/** The tools of each coding agent, by its name here. */
const tables = { claude, codex, gemini, qwen, opencode, copilot, cursor, vscode } as const

/** The tool of a coding agent. Undefined for an unknown one, about which a person is asked. */
export function clientTool(client: string, name: string): ClientTool | undefined {
  const table: Table | undefined = Object.hasOwn(tables, client) ? tables[client as keyof typeof tables] : undefined
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}
