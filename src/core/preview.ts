import type { Sentence } from "./reason.ts"

/**
 * The preview of a call for approvers, as data. A tool's `preview` returns one, or a text. `bytes` is how much the
 * call writes or sends, where the tool knows.
 */
export type Preview = { readonly bytes?: number } & (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "diff"; readonly files: readonly FileDiff[] }
  | RequestPreview
  | CommandPreview
  /** `data` is Base64. */
  | { readonly kind: "image"; readonly mimeType: string; readonly data: string }
)

export interface FileDiff {
  readonly path: string
  /** Unified, with its two header lines. */
  readonly diff: string
  readonly added: number
  readonly removed: number
}

export interface RequestPreview {
  readonly kind: "request"
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface CommandPreview {
  readonly kind: "command"
  readonly command: string
  readonly cwd?: string
  readonly network: boolean
  /** Details of the run, a line each: variables, time limit, sandbox. A line with a code can be translated. */
  readonly details: readonly (string | Sentence)[]
}

/** The same for interfaces that show text. */
export function previewText(preview: Preview): string {
  switch (preview.kind) {
    case "text":
      return preview.text
    case "diff":
      return preview.files.map(({ diff }) => diff).join("")
    case "request": {
      const { method, url, headers = {}, body } = preview
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      return [`${method} ${url}`, ...lines, ...(body === undefined ? [] : ["", body])].join("\n")
    }
    case "command":
      return [...preview.details.map(lineText), "", preview.command].join("\n")
    case "image":
      return `An image (${preview.mimeType}).`
  }
}

const lineText = (line: string | Sentence) => (typeof line === "string" ? line : line.text)
