import { Menu, useMantineColorScheme, type MantineColorScheme } from "@mantine/core"
import { Link } from "@tanstack/react-router"
import { remove } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { forgetSession } from "../api/session.ts"
import { initials } from "../ui/initials.ts"
import { Icon } from "../ui/icon.tsx"
import { languages, useLanguage, useWords, type Language } from "../words/words.tsx"
import { useNotify } from "./attention.ts"
import { useFreeze } from "./freeze.tsx"
import { pages } from "./pages.ts"

/** Shows the signed-in person, with theme, language and sign-out. On the phone also the foot of the navigation. */
export function PersonMenu({ phone = false }: { phone?: boolean }) {
  const words = useWords()
  const me = useMe()
  const { language, choose } = useLanguage()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { ask } = useFreeze()
  const { notify, canNotify, turn } = useNotify()
  const schemes: readonly (readonly [MantineColorScheme, string])[] = [
    ["light", words.frame.light],
    ["dark", words.frame.dark],
    ["auto", words.frame.system],
  ]
  const signOut = async () => {
    await remove("/v1/session").catch(() => undefined)
    forgetSession()
    await queries.resetQueries()
  }
  return (
    <Menu position={phone ? "top-end" : "top-start"} width={216} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        {phone ? (
          <button type="button" className="tab-more">
            <Icon name="dots" />
            <span>{words.pages.more}</span>
          </button>
        ) : (
          <button type="button" className="me">
            <span className="av" aria-hidden="true">
              {initials(me.name)}
            </span>
            <span className="me-n cut">{me.name}</span>
            <span className="vh">{words.frame.personMenu}</span>
            <Icon name="selector" small />
          </button>
        )}
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {me.name} · {words.frame.may} {me.scopes.join(", ")}
        </Menu.Label>
        {phone && (
          <>
            <Menu.Item leftSection={<Icon name="snowflake" />} onClick={() => ask()}>
              {words.frame.freezeEveryone}
            </Menu.Item>
            {pages
              .filter(({ isNotTab }) => isNotTab === true)
              .map((page) => (
                <Menu.Item key={page.to} leftSection={<Icon name={page.icon} />} component={Link} to={page.to}>
                  {page.label(words)}
                </Menu.Item>
              ))}
            <Menu.Divider />
          </>
        )}
        <Menu.Label>{words.frame.theme}</Menu.Label>
        {schemes.map(([scheme, label]) => (
          <Choice key={scheme} chosen={colorScheme === scheme} label={label} choose={() => setColorScheme(scheme)} />
        ))}
        <Menu.Divider />
        <Menu.Label>{words.frame.languageLabel}</Menu.Label>
        {(Object.keys(languages) as Language[]).map((each) => (
          <Choice key={each} chosen={language === each} label={languages[each].language} choose={() => choose(each)} />
        ))}
        {canNotify && (
          <>
            <Menu.Divider />
            <Menu.CheckboxItem
              checked={notify === "on"}
              onChange={() => void turn(notify === "on" ? "off" : "on")}
              checkIcon={<Icon name="check" small />}
            >
              {words.frame.notify}
            </Menu.CheckboxItem>
          </>
        )}
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>{words.frame.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function Choice({ chosen, label, choose }: { chosen: boolean; label: string; choose: () => void }) {
  return (
    <Menu.RadioItem
      value={label}
      checked={chosen}
      onChange={choose}
      closeMenuOnClick
      checkIcon={<Icon name="check" small />}
    >
      {label}
    </Menu.RadioItem>
  )
}
