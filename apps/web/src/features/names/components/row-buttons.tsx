import type { ReactNode } from "react";
import { pageStrings } from "../../../strings/pages.ts";
import { IconButton } from "../../../ui/button.tsx";

type RowButtonsProps = { readonly name: string; readonly onEdit: () => void; readonly onRemove: () => void };

/** What can be done with a row. */
export function RowButtons({ name, onEdit, onRemove }: RowButtonsProps): ReactNode {
  const text = pageStrings.names;
  return (
    <span className="nowrap">
      <IconButton icon="pencil" label={text.edit(name)} onPress={onEdit} />
      <IconButton icon="trash" label={text.remove(name)} onPress={onRemove} />
    </span>
  );
}
