import { isSecretVariable, isSecretName } from "../lib/secret-names.ts"
import { hideSecrets } from "../lib/secret-patterns.ts"

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

  /**
   * Replaces secrets inside a text, then translates `${env:A}`, `${A}`, `${input:a}`, `${workspaceFolder}` and similar.
   * Unknown ones stay as written.
   */
  text(written: string): string {
    const withoutDefaults = written.replace(/\$\{([A-Za-z_]\w*):-([^}]*)\}/g, (whole, name: string, usual: string) =>
      isSecret(name, usual) || hasSecret(usual) ? this.#hidden(name, usual) : whole,
    )
    let shown = this.#withoutNamed(withoutDefaults)
    hideSecrets(shown, (found) => {
      const secret = found.replace(/^\\*["']/, "")
      if (secret !== "" && !secret.includes("${"))
        shown = shown.replaceAll(secret, () => this.#hidden(`${this.#server}_secret`, secret))
    })
    return this.#translated(shown)
  }

  /** Replaces what follows a name that says that it is a secret. */
  #withoutNamed(text: string): string {
    let shown = ""
    let at = 0
    names.lastIndex = 0
    for (let found = names.exec(text); found !== null; found = names.exec(text)) {
      const [, name = ""] = found
      valueAfterName.lastIndex = names.lastIndex
      const [whole = "", quoted, inQuotes, scheme, plain] = valueAfterName.exec(text) ?? []
      const [before, value] = [quoted ?? scheme ?? "", inQuotes ?? plain ?? ""]
      if (!isSecret(name, value) && !(value !== "" && /^(key|sig|signature)$/i.test(name))) continue
      shown += text.slice(at, names.lastIndex) + before + this.#hidden(name, value)
      at = names.lastIndex += whole.length
    }
    return shown + text.slice(at)
  }

  #translated(written: string): string {
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

  /** Replaces a secret by a variable; a variable stays as it is. */
  #hidden(name: string, secret: string): string {
    if (secret === "" || secret.includes("${")) return this.#translated(secret)
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
    const given = typeof asked?.["default"] === "string" ? asked["default"] : ""
    const usual = given.includes("${") || isSecret(id, given) || hasSecret(given) ? "" : given
    return usual === "" ? `\${${variable}}` : `\${${variable}:-${usual}}`
  }
}

/** Names that the other programs define themselves. */
const fixed = new Set(["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"])

function hasSecret(text: string): boolean {
  return hideSecrets(text) !== text
}

/** `NAME=`, `?name=`, `--name `, `Name: ` and `"name": `. */
const names = /(?<![\w$])(-{0,2}[A-Za-z][\w.-]{0,60})(?:\\{0,3}["']?\s{0,3}[=:]\s{0,3}|(?<=--[\w-]{1,60})\s)/g
/**
 * The value behind it, without the quote and the scheme that it may begin with. In quotes it goes on to the next quote.
 */
const valueAfterName =
  /(\\{0,3}["'](?:(?:Bearer|Basic|Token)\s+)?)([^"'\\]{1,2000})|((?:(?:Bearer|Basic|Token)\s+)?)([^\s"'&;|,}\\]{1,2000})/iy

/** Reports whether the name or the form of a value shows that it is a secret. */
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
