import { lazy, Suspense, useState } from "react"
import type { Card, Preview } from "../../../src/http/api/schemas.ts"
import { Later } from "../ui/later.tsx"
import { useWords } from "../words/words.tsx"
import { CommandParts } from "./command.tsx"

const DiffView = lazy(() => import("./diff-view.tsx"))

/** What the call would do, from Quartermaster's own reading of it. */
export function PreviewBody({ preview, columns }: { preview: Preview; columns: 1 | 2 }) {
  const words = useWords()
  switch (preview.kind) {
    case "command":
      return <CommandParts command={preview} />
    case "diff":
      return preview.files.map((file) => (
        <div key={file.path} className="diff-file">
          <p className="diff-h">
            <code className="grow">{file.path}</code>
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
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          )}
          {preview.body !== undefined && preview.body !== "" && <pre className="plain">{preview.body}</pre>}
        </>
      )
    case "image":
      return (
        <figure className="image">
          <Image mimeType={preview.mimeType} data={preview.data} label={words.card.image} />
        </figure>
      )
    case "text":
      return <pre className="plain">{preview.text}</pre>
  }
}

export function Request({ method, url }: { method: string; url: string }) {
  return (
    <div className="req">
      <b className="mono">{method}</b>
      <code className="grow">{url}</code>
    </div>
  )
}

const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])

/** An image by a blob address: the page allows no `data:` addresses, and no SVG of an agent. */
function Image({ mimeType, data, label }: { mimeType: string; data: string; label: string }) {
  const [address] = useState(() => {
    if (!imageTypes.has(mimeType)) return undefined
    try {
      const bytes = Uint8Array.from(atob(data), (letter) => letter.codePointAt(0) ?? 0)
      return URL.createObjectURL(new Blob([bytes], { type: mimeType }))
    } catch {
      return undefined
    }
  })
  return address === undefined ? <code>{mimeType}</code> : <img src={address} alt={label} />
}

/** What the head of the found block says beside its name. */
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
