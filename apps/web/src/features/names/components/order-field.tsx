import type { ReactNode } from "react";
import { NAME_ORDERS, type NameOrder } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Select } from "../../../ui/select.tsx";

type OrderFieldProps = { readonly value: NameOrder | undefined; readonly onChange: (order: NameOrder) => void };

/** In which order a list about names stands. */
export function OrderField({ value, onChange }: OrderFieldProps): ReactNode {
  const text = pageStrings.names;
  return (
    <Select
      label={text.order}
      value={value ?? NAME_ORDERS[0]}
      onChange={onChange}
      options={NAME_ORDERS.map((order) => ({ value: order, label: text.orders[order] }))}
    />
  );
}
