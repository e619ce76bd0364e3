import { lazy, Suspense } from "react"
import type { Card, Preview } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import { Images } from "../ui/images.tsx"
import { Later } from "../ui/later.tsx"
import { imagesIn } from "../ui/value-parts.ts"
import { useWords } from "../words/words.tsx"
import { CommandParts } from "./command.tsx"

const DiffView = lazy(() => import("./diff-view.tsx"))

/** Shows the effect of the call, from Quartermaster's own reading of it. */
export function PreviewBody({ preview, columns }: { preview: Preview; columns: 1 | 2 }) {
  const words = useWords()
  switch (preview.kind) {
    case "command":
      return <CommandParts command={preview} />
    case "diff":
      return preview.files.map((file) => (
        <div key={file.path} className="diff-file">
          <p className="diff-h">
            <code className="grow">{printable(file.path)}</code>
            <b className="plus">+{file.added}</b> <b className="minus">−{file.removed}</b>
          </p>
          <Suspense
            fallback={
              <Later>
                <div className="is-load">
                  <div className="sk sk-3" />
                </div>
              </Later>
            }
          >
            <DiffView file={file} columns={columns} />
          </Suspense>
        </div>
      ))
    case "request":
      return (
        <>
          <Request method={preview.method} url={preview.url} />
          {preview.headers !== undefined && Object.keys(preview.headers).length > 0 && (
            <dl className="headers">
              {Object.entries(preview.headers).map(([name, value]) => (
                <div key={name}>
                  <dt>{printable(name)}</dt>
                  <dd>{printable(value)}</dd>
                </div>
              ))}
            </dl>
          )}
          {preview.body !== undefined && preview.body !== "" && <pre className="plain">{printable(preview.body)}</pre>}
        </>
      )
    case "image":
      return (
        <figure className="image">
          {imagesIn(preview).length === 0 && <code>{printable(preview.mimeType)}</code>}
          <Images value={preview} label={words.card.image} />
        </figure>
      )
    case "text":
      return <pre className="plain">{printable(preview.text)}</pre>
  }
}

export function Request({ method, url }: { method: string; url: string }) {
  return (
    <div className="req">
      <b className="mono">{printable(method)}</b>
      <code className="grow">{printable(url)}</code>
    </div>
  )
}

/** Returns the note beside the name of the found block. */
export function usePreviewNote({ preview }: Card): string {
  const { card } = useWords()
  if (preview?.kind === "diff") return card.filesChange(preview.files.length)
  if (preview?.kind === "command") {
    const { command, cwd, network } = preview
    const folder = cwd === undefined || cwd === "" || cwd === "." ? [] : [card.inFolder(cwd)]
    return [card.wholeCommand(command.length), ...folder, ...(network ? [card.withNetwork] : [])].join(card.comma)
  }
  return card.foundFrom
}
