// What the agent can do for a customer: plain functions, whatever framework calls them.

const orders = { 1042: "in transit, arriving Thursday", 1043: "delivered" };

export const getOrder = (orderId) => ({ order_id: orderId, status: orders[orderId] ?? "not found" });

export const cancelOrder = (orderId) => ({ order_id: orderId, status: "cancelled" });

export function refundOrder(orderId, amount) {
  if (orders[orderId] === "delivered") {
    throw new Error(`order ${orderId} is delivered and cannot be refunded; it has to be returned first`);
  }
  return { order_id: orderId, amount, status: "refunded" };
}

export const deleteAccount = () => ({ status: "deleted" });
