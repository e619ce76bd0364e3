/** Keys of later versions and what they will be for. Whoever builds one deletes its row and adds its schema. */
export const laterKeys: Readonly<Record<string, string>> = {
  workspace: "the folder the file tools work in",
  modules: "modules that bring tools",
  plugins: "plugins that bring tools",
  "tools.workspaceDir": "the folder the file tools work in",
  "tools.allowedPaths": "paths the file tools may use without asking",
  "tools.protectedPaths": "paths no tool may write",
  "tools.maxFileSize": "the largest file the file tools read or write",
  "tools.allowedExtensions": "the kinds of file the file tools read or write",
  "tools.shell": "which commands run, ask or are denied",
  "tools.hosts": "which hosts the network tools may reach",
  "tools.webSearch": "which search engine is asked and with which key",
  experiments: "trying two versions of a tool side by side",
  models: "the models that agents talk to",
}

/** The later keys of the section at `path`, by their last name. */
export function laterKeysAt(path: readonly PropertyKey[]): string[] {
  const start = path.length === 0 ? "" : `${path.join(".")}.`
  return Object.keys(laterKeys)
    .filter((key) => key.startsWith(start))
    .map((key) => key.slice(start.length))
    .filter((key) => !key.includes("."))
}
