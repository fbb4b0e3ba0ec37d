/// Values under small numbers that the table hands out and reuses.
#[derive(Debug)]
pub struct Slots<T> {
    entries: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Slots {
            entries: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Stores a value and returns its number; `None` when 2^32 values are stored.
    pub fn insert(&mut self, value: T) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            *self.entries.get_mut(index(slot))? = Some(value);
            return Some(slot);
        }
        let slot = u32::try_from(self.entries.len()).ok()?;
        self.entries.push(Some(value));
        Some(slot)
    }

    /// Takes a value out; its number may be handed out again.
    pub fn remove(&mut self, slot: u32) -> Option<T> {
        let value = self.entries.get_mut(index(slot))?.take()?;
        self.free.push(slot);
        Some(value)
    }

    /// The value under a number.
    #[must_use]
    pub fn get(&self, slot: u32) -> Option<&T> {
        self.entries.get(index(slot))?.as_ref()
    }

    /// All values with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0_u32..)
            .zip(&self.entries)
            .filter_map(|(slot, entry)| entry.as_ref().map(|value| (slot, value)))
    }

    /// How many values are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Says whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots::new()
    }
}

fn index(slot: u32) -> usize {
    usize::try_from(slot).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_number_is_used_again_and_nothing_else_moves() {
        let mut slots = Slots::new();
        let first = slots.insert("first").unwrap();
        let second = slots.insert("second").unwrap();

        assert_eq!(slots.remove(first), Some("first"));
        assert_eq!(slots.remove(first), None);
        assert_eq!(slots.insert("third"), Some(first));

        assert_eq!(slots.get(second), Some(&"second"));
        assert_eq!(slots.len(), 2);
        assert_eq!(slots.get(7), None);
    }
}
