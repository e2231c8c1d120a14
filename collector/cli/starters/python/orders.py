"""What the agent can do for a customer: plain functions, whatever framework calls them."""

ORDERS = {"1042": "in transit, arriving Thursday", "1043": "delivered"}


class RefundRefused(Exception):
    """The order cannot be refunded."""


def get_order(order_id: str) -> dict[str, str]:
    """Look an order up.

    Args:
        order_id: The number of the order.
    """
    return {"order_id": order_id, "status": ORDERS.get(order_id, "not found")}


def cancel_order(order_id: str) -> dict[str, str]:
    """Cancel an order.

    Args:
        order_id: The number of the order.
    """
    return {"order_id": order_id, "status": "cancelled"}


def refund_order(order_id: str, amount: float) -> dict[str, str]:
    """Pay money back for an order.

    Args:
        order_id: The number of the order.
        amount: How much, in euros.
    """
    if ORDERS.get(order_id) == "delivered":
        raise RefundRefused(f"order {order_id} is delivered and cannot be refunded; it has to be returned first")
    return {"order_id": order_id, "status": "refunded"}


def delete_account() -> dict[str, str]:
    """Delete the customer's account for good."""
    return {"status": "deleted"}
