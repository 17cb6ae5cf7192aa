//! A list that grows page by page.

use std::ops::{Index, IndexMut};

/// A list of things that never move: a vector that grows holds everything twice for a moment, and a memory limit is to be kept at every moment.
#[derive(Debug)]
pub(crate) struct Pages<T> {
    pages: Vec<Vec<T>>,
}

/// Things on a page.
const PAGE: usize = 1 << 10;

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Pages { pages: Vec::new() }
    }
}

impl<T> Pages<T> {
    pub(crate) fn len(&self) -> usize {
        match self.pages.split_last() {
            Some((last, full)) => full.len() * PAGE + last.len(),
            None => 0,
        }
    }

    pub(crate) fn push(&mut self, item: T) {
        match self.pages.last_mut() {
            Some(page) if page.len() < PAGE => page.push(item),
            // The first page starts small: most lists are short.
            Some(_) => {
                let mut page = Vec::with_capacity(PAGE);
                page.push(item);
                self.pages.push(page);
            }
            None => self.pages.push(vec![item]),
        }
    }
}

impl<T> Index<usize> for Pages<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.pages[index / PAGE][index % PAGE]
    }
}

impl<T> IndexMut<usize> for Pages<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.pages[index / PAGE][index % PAGE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_there() {
        let mut list = Pages::default();
        for number in 0..3 * PAGE + 1 {
            assert_eq!(list.len(), number);
            list.push(number);
        }
        list[PAGE] = 0;
        for number in 0..list.len() {
            let expected = if number == PAGE { 0 } else { number };
            assert_eq!(list[number], expected);
        }
    }
}
