import type { RolePreviewJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { Icon } from "../ui/icon.tsx"
import { problemText } from "../words/problem-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import look from "./roles.module.css"

/** Shows the effect of a role's change, agent by agent: tools gained and lost, and those that ask from then on. */
export function RolePreview({ preview, isChanged }: { preview: RolePreviewJson | undefined; isChanged: boolean }) {
  const words = useWords()
  const text = words.govern.role
  return (
    <aside
      className={look["preview"]}
      data-empty={!isChanged || undefined}
      aria-label={text.changes}
      aria-live="polite"
    >
      <div className={`scroll ${look["body"]}`} tabIndex={0} role="group" aria-label={text.changes}>
        <h2 className="h1">{text.changes}</h2>
        {!isChanged && <p className="soft">{text.noChange}</p>}
        <RoleChanges preview={preview} />
      </div>
    </aside>
  )
}

/** The changes themselves, agent by agent. */
export function RoleChanges({ preview }: { preview: RolePreviewJson | undefined }) {
  const words = useWords()
  const text = words.govern.role
  const { language } = useLanguage()
  return (
    <>
      {preview?.refused !== undefined && (
        <p className="strip strip-in strip-deny" role="alert">
          <Icon name="alert-triangle" />
          <span>{problemText({ ...preview.refused, detail: preview.refused.sentence }, language)}</span>
        </p>
      )}
      {preview?.agents.length === 0 && preview.refused === undefined && <p className="soft">{text.nothing}</p>}
      {preview?.limited.map(({ id, by, groups }) => (
        <p key={`limited ${id}`} className="soft" data-limited={id}>
          {text.limited(id, by, groups.slice(0, 6).join(words.card.comma))}
        </p>
      ))}
      {preview?.agents.map(({ id, gained, lost, asksNow, runsNow }) => (
        <section key={id} data-preview={id} className={look["agent"]}>
          <Names title={text.gains(id, gained.length)} names={gained} tone="tag-ok" />
          <Names title={text.loses(id, lost.length)} names={lost} tone="tag-deny" />
          <Names title={text.asksNow(id)} names={asksNow} tone="tag-ask" />
          <Names title={text.runsNow(id)} names={runsNow} tone="tag-ok" />
        </section>
      ))}
      {preview !== undefined && preview.agents.length > 0 && preview.unchanged.length > 0 && (
        <p className="soft">{text.stays(preview.unchanged.slice(0, 12).join(words.card.comma))}</p>
      )}
    </>
  )
}

function Names({ title, names, tone }: { title: string; names: readonly string[]; tone: string }) {
  if (names.length === 0) return null
  return (
    <>
      <h3 className="h3">{title}</h3>
      <p className={look["names"]}>
        {names.map((name) => (
          <code key={name} className={`tag ${tone}`}>
            {name}
          </code>
        ))}
      </p>
    </>
  )
}
