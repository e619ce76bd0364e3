import { isSecretVariable, isSecretName } from "../lib/secret-names.ts"

/** Shared while the texts of all servers are imported. */
export interface ImportContext {
  folder: string
  notes: string[]
  /** Environment variables that replace secrets, with the secret. */
  variables: Map<string, string>
}

/** Imports the texts of one server: translates its variables and replaces secrets by variables. */
export class ServerTextImport {
  readonly #server: string
  readonly #inputs: readonly Record<string, unknown>[]
  readonly #from: string
  readonly #context: ImportContext

  constructor(server: string, inputs: readonly Record<string, unknown>[], from: string, context: ImportContext) {
    this.#server = server
    this.#inputs = inputs
    this.#from = from
    this.#context = context
  }

  /** `${env:A}`, `${A}`, `${input:a}`, `${workspaceFolder}` and similar. Unknown ones stay as written. */
  text(written: string): string {
    return written.replace(/\$\{([^}]*)\}/g, (whole, inside: string) => {
      const { folder } = this.#context
      if (/^[A-Za-z_]\w*:-/.test(inside)) return whole
      if (/^[A-Za-z_]\w*$/.test(inside) && !fixed.has(inside)) return whole
      if (/^env:[A-Za-z_]\w*$/.test(inside)) return `\${${inside.slice(4)}}`
      if (inside.startsWith("input:")) return this.#input(inside.slice("input:".length))
      if (inside === "workspaceFolder") return folder
      if (inside === "workspaceFolderBasename") return folder.split(/[/\\]/).at(-1) ?? ""
      if (inside === "userHome") return "${HOME}"
      if (inside === "pathSeparator" || inside === "/") return "/"
      this.#context.notes.push(`'${whole}' of server '${this.#server}' is unknown and stays as written.`)
      return `$${whole}`
    })
  }

  /** A path relative to the written file, which is in the folder. */
  folder(written: string): string {
    if (written === "${workspaceFolder}") return "."
    return this.text(written.replace(/^\$\{workspaceFolder\}[/\\]/, "./")).replace(/^~(?=\/)/, "${HOME}")
  }

  list(written: readonly unknown[]): string[] {
    let before = ""
    return written.map((each) => {
      const text = String(each)
      const [, flag = "", value = ""] = /^(--?[\w-]+=)(.+)$/s.exec(text) ?? []
      const own = before
      before = text
      if (flag !== "" && isSecret(flag.slice(0, -1), value)) return flag + this.#hidden(flag, value)
      const named = /^--?[\w-]+$/.test(own) ? own : ""
      return isSecret(named, text) && !text.startsWith("-") ? this.#hidden(named || "ARGUMENT", text) : this.text(text)
    })
  }

  values(written: Record<string, unknown>, kind: "env" | "headers"): Record<string, string> {
    return Object.fromEntries(
      Object.entries(written).map(([name, value]) => {
        const text = typeof value === "string" ? value : JSON.stringify(value)
        if (!(kind === "env" ? isSecretVariable(name) || isSecret(name, text) : isSecret(name, text)))
          return [name, this.text(text)]
        const [, scheme = "", secret = text] = /^((?:Bearer|Basic|Token)\s+)(.*)$/is.exec(text) ?? []
        return [name, scheme + this.#hidden(kind === "env" ? name : `${this.#server}_${name}`, secret)]
      }),
    )
  }

  /** A URL may have a secret among its parameters. */
  address(written: string): string {
    const [start = "", query] = written.split(/\?(.*)/s)
    if (query === undefined) return this.text(written)
    const parts = query.split("&").map((part) => {
      const [name = "", value = ""] = part.split(/=(.*)/s)
      return isSecret(name, value) ? `${name}=${this.#hidden(`${this.#server}_${name}`, value)}` : this.text(part)
    })
    return `${this.text(start)}?${parts.join("&")}`
  }

  /** Replaces a secret by a variable; a variable stays as it is. */
  #hidden(name: string, secret: string): string {
    if (secret === "" || secret.includes("${")) return this.text(secret)
    const variable = this.#variable(name, secret)
    this.#context.notes.push(
      `Set ${variable} to the secret that server '${this.#server}' has in ${this.#from}; until then it is not started.`,
    )
    return `\${${variable}}`
  }

  #variable(name: string, secret: string): string {
    const { variables } = this.#context
    const plain = constantCase(name)
    const own = constantCase(`${this.#server}_${name}`)
    const free = [plain, own, ...Array.from({ length: 100 }, (_, index) => `${own}_${index + 2}`)]
    const variable = free.find((each) => (variables.get(each) ?? secret) === secret) ?? own
    variables.set(variable, secret)
    return variable
  }

  #input(id: string): string {
    const asked = this.#inputs.find((input) => input["id"] === id)
    const variable = constantCase(id)
    const what = typeof asked?.["description"] === "string" ? ` (${asked["description"]})` : ""
    this.#context.notes.push(
      `Set ${variable}${what}: server '${this.#server}' needs it; here it is read from the environment.`,
    )
    const usual = typeof asked?.["default"] === "string" && !asked["default"].includes("${") ? asked["default"] : ""
    return usual === "" ? `\${${variable}}` : `\${${variable}:-${usual}}`
  }
}

/** Names that the other programs define themselves. */
const fixed = new Set(["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"])

/** Whether the name or the form of a value shows that it is a secret. */
function isSecret(name: string, value: string): boolean {
  if (value === "" || /^(true|false|\d{1,5}|none|null)$/i.test(value)) return false
  if (isSecretName(name.replace(/^-+/, "").replaceAll("-", "_"))) return true
  return /^(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeoprs]-|AKIA|AIza|npm_|hf_|qm[ap]_|eyJ)[\w.-]{16,}$/.test(value)
}

function constantCase(name: string): string {
  const spelled = name
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase()
  return /^[A-Z]/.test(spelled) && !spelled.startsWith("QM_") ? spelled : `MCP_${spelled}`
}
