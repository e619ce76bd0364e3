import { Modal } from "@mantine/core"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import type { RolePageJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { queries } from "../api/live.ts"
import { useTell } from "../ui/notices.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { createRole, deleteRole } from "./queries.ts"
import look from "./roles.module.css"

/** Copies a role, or deletes it after saying what that means. */
export function RoleCopyAndDelete({ id, page }: { id: string; page: RolePageJson }) {
  const words = useWords()
  const text = words.govern.role
  const navigate = useNavigate()
  const tell = useTell()
  const problem = useProblemText()
  const [opened, setOpened] = useState(false)
  const { role, deleting, revision, editable } = page
  const act = async (work: Promise<unknown>) => {
    try {
      await work
      void queries.invalidateQueries({ queryKey: ["org"] })
    } catch (error) {
      tell({ icon: "alert-triangle", text: problem(error), ms: 15_000 })
    }
  }
  const copy = async () => {
    const made = await createRole({ name: text.copyName(role.name), copyOf: id })
    await navigate({ to: "/organisation/roles/$roleId", params: { roleId: made.id } })
  }
  const end = async () => {
    await deleteRole(id, revision)
    await navigate({ to: "/organisation/roles" })
  }
  return (
    <div className={look["ends"]}>
      <button type="button" className="btn" onClick={() => void act(copy())}>
        {text.copy}
      </button>
      {editable && (
        <button type="button" className="btn" onClick={() => setOpened(true)}>
          {text.delete}
        </button>
      )}
      <Modal
        opened={opened}
        onClose={() => setOpened(false)}
        title={text.deleteQuestion(role.name)}
        centered
        closeButtonProps={{ "aria-label": words.frame.close }}
      >
        <div className="dialog">
          <p>
            {deleting.agents.length === 0 ? text.deletesNobody : text.deletes(deleting.agents.join(words.card.comma))}
          </p>
          {deleting.rules.length > 0 && <p>{text.deletesRules(deleting.rules.join(words.card.comma))}</p>}
          <div className="dialog-f">
            <button type="button" className="btn" onClick={() => setOpened(false)}>
              {words.frame.cancel}
            </button>
            <button
              type="button"
              className="btn btn-yes"
              onClick={() => {
                setOpened(false)
                void act(end())
              }}
            >
              {text.deleteNow}
            </button>
          </div>
        </div>
      </Modal>
    </div>
  )
}
