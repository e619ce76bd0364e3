import { Link } from "@tanstack/react-router"
import { useConnection } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { Gate, Icon } from "../ui/icon.tsx"
import { useWords } from "../words/words.tsx"
import { useFreeze } from "./freeze.tsx"
import { commandKey } from "./keys-help.tsx"
import { openPalette } from "./palette.tsx"
import { pages, sections, type Page } from "./pages.ts"
import { PersonMenu } from "./person-menu.tsx"

export function Navigation() {
  const words = useWords()
  return (
    <nav className="nav" aria-label={words.frame.main}>
      <div className="brand">
        <Gate />
        <b>Quartermaster</b>
      </div>
      <button type="button" className="goto" onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span>{words.frame.goTo}</span>
        <kbd aria-hidden="true">{commandKey}K</kbd>
      </button>
      {sections.map((section) => (
        <div key={section.label(words)}>
          <p className="nav-h">{section.label(words)}</p>
          <ul>
            {section.pages.map((page) => (
              <li key={page.to}>
                <PageLink page={page} className="nav-a" />
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div className="nav-foot">
        <Live />
        <FreezeButton />
        <PersonMenu />
      </div>
    </nav>
  )
}

const tabs = pages.filter(({ isNotTab }) => isNotTab !== true)

/** The same pages as tabs at the bottom of a phone, where the thumb is. */
export function PhoneTabs() {
  const words = useWords()
  return (
    <nav className="tabs-phone" aria-label={words.frame.main}>
      <ul>
        {tabs.map((page) => (
          <li key={page.to}>
            <PageLink page={page} />
          </li>
        ))}
        <li>
          <PersonMenu phone />
        </li>
      </ul>
    </nav>
  )
}

function PageLink({ page, className = "" }: { page: Page; className?: string }) {
  const words = useWords()
  const { waiting } = useMe()
  return (
    <Link to={page.to} className={className} activeProps={{ "aria-current": "page" }}>
      <Icon name={page.icon} />
      <span>{page.label(words)}</span>
      {page.to === "/inbox" && waiting > 0 && (
        <span className="nav-n" aria-label={words.inbox.waiting(waiting)}>
          {waiting}
        </span>
      )}
    </Link>
  )
}

function Live() {
  const words = useWords()
  const { state } = useConnection()
  const { workspace } = useMe()
  const text = { live: words.frame.live, connecting: words.frame.connecting, lost: words.frame.noConnection }[state]
  return (
    <p className="live" data-connection={state}>
      <i className={`dot ${{ live: "dot-live", connecting: "", lost: "dot-wait" }[state]}`} />
      {text}
      <span className="cut" title={workspace}>
        {workspace.split(/[/\\]/).findLast((part) => part !== "")}
      </span>
    </p>
  )
}

function FreezeButton() {
  const words = useWords()
  const { frozen } = useMe()
  const { ask, thaw } = useFreeze()
  const everyone = frozen.some(({ agentId }) => agentId === undefined)
  const label = everyone ? words.frame.thawEveryone : words.frame.freezeEveryone
  return (
    <button
      type="button"
      className="btn btn-s freeze"
      onClick={() => (everyone ? thaw() : ask())}
      aria-keyshortcuts="Shift+F"
    >
      <Icon name="snowflake" />
      <span>{label}</span>
      {!everyone && <kbd aria-hidden="true">⇧F</kbd>}
    </button>
  )
}
